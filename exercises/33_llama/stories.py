"""A small language of children's stories, whose every choice is known: what made the model in the lesson's folder.

A story is written by choosing, again and again, one of a few continuations, all equally likely. The first word of each
is different, so the text shows what was chosen. So the probability of every word is known exactly, and with it how well
any model can ever do.
"""

import math
import random
import re
from collections.abc import Callable

BEGIN = "<|story|>"
TOKEN = r" ?[A-Za-z]+| ?[^A-Za-z ]"  # a word or a mark, with the space before it
WORD, CLINGING = re.compile(r"[A-Za-z]+|[^A-Za-z ]"), ".,!?”"

NUMBERS = ["zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve"]
MOST = 12
CHILDREN = {
    "girl": [
        "Alma",
        "Anna",
        "Clara",
        "Ella",
        "Emma",
        "Greta",
        "Ida",
        "Lily",
        "Lucy",
        "Mia",
        "Nora",
        "Rosa",
        "Sara",
        "Zoe",
    ],
    "boy": [
        "Adam",
        "Ben",
        "Carl",
        "David",
        "Emil",
        "Felix",
        "Hugo",
        "Jack",
        "Leo",
        "Max",
        "Noah",
        "Oscar",
        "Paul",
        "Tom",
    ],
}
PRONOUNS = {"girl": ("she", "her"), "boy": ("he", "his")}
CHARACTERS = ["brave", "clever", "curious", "friendly", "funny", "kind", "little", "quiet"]
HOMES = ["blue", "cosy", "green", "narrow", "old", "red", "small", "tall", "warm", "white"]
BUILDINGS = ["boat", "castle", "cottage", "house", "hut", "tower"]
SIDES = ["behind", "beside", "near"]
LANDSCAPES = ["bridge", "cliff", "farm", "hill", "lake", "mill", "mountain", "river", "sea", "village"]
WEATHERS = ["cloudy", "cold", "foggy", "rainy", "snowy", "sunny", "warm", "windy"]
TIMES = ["afternoon", "day", "evening", "morning"]
GOING = ["hurried", "ran", "skipped", "walked", "wandered", "went"]
PLACES = [
    "barn",
    "beach",
    "field",
    "forest",
    "garden",
    "harbour",
    "market",
    "meadow",
    "orchard",
    "park",
    "school",
    "yard",
]
THINGS = {  # many → one
    "acorns": "acorn", "apples": "apple", "balls": "ball", "baskets": "basket", "bells": "bell", "berries": "berry",
    "books": "book", "buttons": "button", "cakes": "cake", "candles": "candle", "carrots": "carrot",
    "cherries": "cherry", "coins": "coin", "cookies": "cookie", "feathers": "feather", "flowers": "flower",
    "kites": "kite", "leaves": "leaf", "lemons": "lemon", "marbles": "marble", "mushrooms": "mushroom", "nuts": "nut",
    "pears": "pear", "pebbles": "pebble", "plums": "plum", "ribbons": "ribbon", "shells": "shell", "stars": "star",
    "stones": "stone", "whistles": "whistle",
}  # fmt: skip
COLOURS = ["black", "blue", "brown", "golden", "green", "orange", "pink", "purple", "red", "silver", "white", "yellow"]
ANIMALS = [
    "badger",
    "bear",
    "camel",
    "cat",
    "cow",
    "crow",
    "dog",
    "donkey",
    "duck",
    "fox",
    "frog",
    "goat",
    "goose",
    "hedgehog",
    "hen",
    "horse",
    "lamb",
    "mouse",
    "owl",
    "pig",
    "rabbit",
    "sheep",
    "squirrel",
    "turtle",
]
MOODS = ["hungry", "lonely", "sad", "shy", "sleepy", "tired", "wet", "worried"]
FAMILY = ["aunt", "brother", "father", "grandfather", "grandmother", "mother", "sister", "uncle"]
FEELINGS = ["cheerful", "glad", "grateful", "happy", "merry", "pleased", "proud", "thankful"]
EVENTS = 3  # at most


class Writer:
    """Writes one story: its tokens, and the log probability of each token, given all before it.

    choose: gives the index of one of so many options. Its second argument says whether the story goes on differently
    after the choice; if not, the options differ in a word alone.
    """

    def __init__(self, choose: Callable[[int, bool], int]):
        self.choose, self.tokens, self.log_probabilities = choose, [BEGIN], [0.0]
        self.pending = 0.0  # the log probability of what was chosen and not yet said

    def decide(self, options: list, matters: bool = True):
        """One of the options, all equally likely."""
        self.pending -= math.log(len(options))
        return options[self.choose(len(options), matters)]

    def say(self, *pieces: str | list[str]) -> list[str]:
        """Append words; in the place of a list, one of its words. Returns the words that were chosen."""
        chosen = []
        for piece in pieces:
            if isinstance(piece, list):
                piece = self.decide(piece, matters=False)
                chosen.append(piece)
            for word in WORD.findall(piece):
                clings = word in CLINGING or self.tokens[-1].endswith("“") or self.tokens[-1] == BEGIN
                self.tokens.append(word if clings else f" {word}")
                self.log_probabilities.append(self.pending)
                self.pending = 0.0
        return chosen

    def say_number(self, least: int, most: int) -> int:
        """Say a number from least to most, and return it."""
        number = self.decide(list(range(least, most + 1)))
        self.say(NUMBERS[number])
        return number


class Story:
    """One story: who, where, what was found, one to three events, and the way home. `writer` holds its tokens."""

    def __init__(self, choose: Callable[[int, bool], int]):
        self.writer = Writer(choose)
        self.say = self.writer.say
        _, kind = self.say("Once upon a time there was a", CHARACTERS, list(CHILDREN))
        (self.name,) = self.say("named", CHILDREN[kind], ".")
        self.she, her = PRONOUNS[kind]
        self.say(self.she.title(), "lived in a", HOMES, BUILDINGS, SIDES, "the", LANDSCAPES, ".")
        *_, place = self.say("One", WEATHERS, TIMES, self.name, GOING, "to the", PLACES, "and found")
        self.number, self.animals = self.writer.say_number(3, 8), ANIMALS
        colour, things = self.say(COLOURS, list(THINGS), ".")
        self.names = [THINGS[things], things]  # of one, of many
        for event in range(EVENTS):
            happens = self.writer.decide(self.events() + [None] * (event > 0))
            if happens is None:
                break
            happens()
        (family,) = self.say("At home", self.name, "told", her, FAMILY, "about the", place, ".")
        found = (NUMBERS[self.number], colour, self.thing())
        self.say("“Look,” said", self.name, ", “here", self.be("is", "are"), *found, "!”")
        self.say("Then", self.she, "gave", self.be("it", "them"), "to", her, family, "and was", FEELINGS, ".")

    def events(self) -> list[Callable[[], None]]:
        """What can happen next."""
        return [self.give, self.lose] * (self.number > 1) + [self.find] * (self.number < MOST)

    def be(self, one: str, many: str) -> str:
        """The word for one thing or for many."""
        return one if self.number == 1 else many

    def thing(self, number: int | None = None) -> str:
        """The name of the things, if there are so many."""
        return self.names[(self.number if number is None else number) > 1]

    def give(self) -> None:
        """Some animal asks for some of the things."""
        (animal,) = self.say("On the way", self.she, "met a", self.animals)
        self.animals = [other for other in self.animals if other != animal]
        self.say("who was", MOODS, ".")
        self.say("“May I have")
        asked = self.writer.say_number(1, min(3, self.number - 1))
        self.number -= asked
        self.say(self.thing(asked), "?” asked the", animal, ".")
        self.say("“Yes,” said", self.name, ", and now", self.she, "had", NUMBERS[self.number], ".")

    def lose(self) -> None:
        """Some of the things are lost."""
        self.say("But", self.name, "lost")
        self.number -= self.writer.say_number(1, min(3, self.number - 1))
        self.say(", so there", self.be("was", "were"), "only", NUMBERS[self.number], self.thing(), "left.")

    def find(self) -> None:
        """More of them turn up."""
        self.say("Then", self.she, "found")
        self.number += self.writer.say_number(1, min(3, MOST - self.number))
        self.say("more, and that made", NUMBERS[self.number], self.thing(), ".")


def random_story(seed: random.Random) -> Writer:
    """A story by chance."""
    return Story(lambda count, matters: seed.randrange(count)).writer


def vocabulary() -> list[str]:
    """All tokens, BEGIN first."""
    seed, found = random.Random(0), set()
    for _ in range(5000):
        found.update(random_story(seed).tokens)
    return [BEGIN, *sorted(found - {BEGIN})]


class Path:
    """The choices that matter of one story, for counting all stories: first the given ones, then always the first."""

    def __init__(self, given: tuple[int, ...]):
        self.given, self.counts, self.probability = given, [], 1.0

    def choose(self, count: int, matters: bool) -> int:
        """As a Writer asks. Where options differ in a word alone, the first of them stands for all."""
        if not matters:
            return 0
        self.counts.append(count)
        self.probability /= count
        return self.given[len(self.counts) - 1] if len(self.counts) <= len(self.given) else 0


def exact_entropy() -> tuple[float, float]:
    """The mean entropy of a story in nats, and its mean number of tokens, BEGIN left out: all stories are counted."""
    entropy, length, waiting = 0.0, 0.0, [()]
    while waiting:
        path = Path(waiting.pop())
        writer = Story(path.choose).writer
        entropy -= path.probability * sum(writer.log_probabilities)
        length += path.probability * (len(writer.tokens) - 1)
        for place in range(len(path.given), len(path.counts)):
            zeros = (0,) * (place - len(path.given))
            waiting += [(*path.given, *zeros, index) for index in range(1, path.counts[place])]
    return entropy, length
