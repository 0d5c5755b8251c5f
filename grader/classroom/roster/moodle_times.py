"""Reads times in Moodle's files. They are in the language of the profile: "Freitag, 6. November 2026, 13:05".

What is not surely understood is not read: the same word is October in one language and November in another one.
"""

import re
import unicodedata
from datetime import datetime, tzinfo

# userdate() in English: strftimedatetime, strftimedaydatetime, and its short forms.
FORMS = (
    "%A, %d %B %Y, %I:%M %p", "%d %B %Y, %I:%M %p", "%A, %B %d, %Y, %I:%M %p", "%B %d, %Y, %I:%M %p",
    "%A, %d %B %Y, %H:%M", "%d %B %Y, %H:%M", "%Y-%m-%d %H:%M:%S", "%Y-%m-%d %H:%M", "%Y-%m-%dT%H:%M:%S%z",
)  # fmt: skip
# The months in full, as dates have them: English, German, French, Spanish, Italian, Portuguese, Catalan, Galician,
# Dutch, Swedish, Danish and Norwegian, Romanian, Turkish, Finnish, Hungarian, Polish, Czech, Greek, Russian, Ukrainian.
MONTHS = tuple(
    frozenset(names.split())
    for names in (
        "january januar jänner janvier enero gennaio janeiro gener xaneiro januari ianuarie ocak tammikuuta tammikuu "
        "január stycznia styczeń ledna leden ιανουαρίου ιανουάριος января січня",
        "february februar février febrero febbraio fevereiro febrer febreiro februari februarie şubat helmikuuta "
        "helmikuu február lutego luty února únor φεβρουαρίου φεβρουάριος февраля лютого",
        "march märz mars marzo março març maart martie mart maaliskuuta maaliskuu március marca marzec března březen "
        "μαρτίου μάρτιος марта березня",
        "april avril abril aprile aprilie nisan huhtikuuta huhtikuu április kwietnia kwiecień dubna duben απριλίου "
        "απρίλιος апреля квітня",
        "may mai mayo maggio maio maig mei maj mayıs toukokuuta toukokuu május maja května květen μαΐου μάιος мая "
        "травня",
        "june juni juin junio giugno junho juny xuño iunie haziran kesäkuuta kesäkuu június czerwca czerwiec června "
        "červen ιουνίου ιούνιος июня червня",
        "july juli juillet julio luglio julho juliol xullo iulie temmuz heinäkuuta heinäkuu július lipca lipiec "
        "července červenec ιουλίου ιούλιος июля липня",
        "august août agosto agost augustus augusti ağustos elokuuta elokuu augusztus sierpnia sierpień srpna srpen "
        "αυγούστου αύγουστος августа серпня",
        "september septembre septiembre settembre setembro setembre septembrie eylül syyskuuta syyskuu szeptember "
        "września wrzesień září σεπτεμβρίου σεπτέμβριος сентября вересня",
        "october oktober octobre octubre ottobre outubro outubre octombrie ekim lokakuuta lokakuu október października "
        "październik října říjen οκτωβρίου οκτώβριος октября жовтня",
        "november novembre noviembre novembro noiembrie kasım marraskuuta marraskuu listopadu νοεμβρίου νοέμβριος "
        "ноября листопада",
        "december dezember décembre diciembre dicembre dezembro desembre decembro desember decembrie aralık "
        "joulukuuta joulukuu grudnia grudzień prosince prosinec δεκεμβρίου δεκέμβριος декабря грудня",
    )
)
CLOCK = re.compile(r"(?<!\d)(\d{1,2}):(\d{2})(?::(\d{2}))?(?!\d)")
HALVES = {"am": 0, "pm": 12}


def parsed(text: str, zone: tzinfo) -> datetime | None:
    """The time in a cell; None for any other text. zone: of the profile."""
    for form in FORMS:
        try:
            time = datetime.strptime(text, form)
        except ValueError:
            continue
        return time if time.tzinfo else time.replace(tzinfo=zone)
    return _in_words(unicodedata.normalize("NFC", text).casefold(), zone)


def _in_words(text: str, zone: tzinfo) -> datetime | None:
    """A day, a month's name and a year in any order, or year, month and day as numbers, and then the clock."""
    clock = CLOCK.search(text)
    if clock is None:
        return None
    day = text[: clock.start()]
    half = re.sub(r"[\W\d_]", "", text[clock.end() :])
    numbers = [int(number) for number in re.findall(r"\d+", day)]
    months = {number for number, names in enumerate(MONTHS, 1) if names & set(re.findall(r"[^\W\d_]+", day))}
    hour, minute, second = int(clock[1]), int(clock[2]), int(clock[3] or 0)
    if half and (half not in HALVES or not 1 <= hour <= 12):
        return None
    if half:
        hour = hour % 12 + HALVES[half]
    years = [number for number in numbers if number >= 1000]
    try:
        if len(numbers) == 2 and len(years) == len(months) == 1:
            (date,) = set(numbers) - set(years)
            return datetime(years[0], *months, date, hour, minute, second, tzinfo=zone)
        if len(numbers) == 3 and years == numbers[:1] and not months:
            return datetime(*numbers, hour, minute, second, tzinfo=zone)  # type: ignore[arg-type]
    except ValueError:
        pass
    return None
