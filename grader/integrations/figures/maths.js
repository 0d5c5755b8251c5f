// What the figures compute with: vectors are arrays of numbers, matrices are arrays of rows.

export const range = (n, from = 0) => Array.from({ length: n }, (_, i) => from + i);
export const sum = (values) => values.reduce((a, b) => a + b, 0);
export const dot = (a, b) => a.reduce((total, value, i) => total + value * b[i], 0);
export const transpose = (matrix) => matrix[0].map((_, j) => matrix.map((row) => row[j]));
export const times = (matrix, factor) => matrix.map((row) => row.map((value) => value * factor));

export function matmul(a, b) {
  const columns = transpose(b);
  return a.map((row) => columns.map((column) => dot(row, column)));
}

// The softmax of one row of scores; -Infinity gives 0. The largest score is taken off first.
export function softmax(scores) {
  const most = Math.max(...scores);
  const exps = scores.map((score) => Math.exp(score - most));
  const total = sum(exps);
  return exps.map((value) => value / total);
}

// Scores with a value above the diagonal: what a later token would add.
export const causal = (scores, fill = -Infinity) =>
  scores.map((row, i) => row.map((score, j) => (j > i ? fill : score)));

export function variance(values) {
  const mean = sum(values) / values.length;
  return sum(values.map((value) => (value - mean) ** 2)) / (values.length - 1);
}

// float32 numbers from base64 of their bytes, lowest byte first.
export function floats(base64) {
  return new Float32Array(bytes(base64).buffer);
}

// float16 numbers from base64 of their bytes, as float64. (Not every browser has a Float16Array.)
export function halves(base64) {
  return Float64Array.from(new Uint16Array(bytes(base64).buffer), (bits) => {
    const [sign, exponent, fraction] = [bits >> 15 ? -1 : 1, (bits >> 10) & 31, bits & 1023];
    return sign * (exponent ? 2 ** (exponent - 15) * (1 + fraction / 1024) : 2 ** -14 * (fraction / 1024));
  });
}

export function bytes(base64) {
  return Uint8Array.from(atob(base64), (letter) => letter.charCodeAt(0));
}

// A number as the lessons print it: so many digits after the point, "nan", "inf"; no minus before a zero.
export function format(value, digits = 4) {
  if (value === null || value === undefined) return "";
  if (typeof value === "string") return value;
  if (Number.isNaN(value)) return "nan";
  if (!Number.isFinite(value)) return value > 0 ? "inf" : "−inf";
  const text = Math.abs(value).toFixed(digits);
  return value < 0 && Number(text) !== 0 ? `−${text}` : text;
}

const UNITS = ["B", "KiB", "MiB", "GiB", "TiB"];

// A count with a comma at every thousand; a number of bytes in the largest unit that fits.
export const count = (value) => value.toLocaleString("en-US");

export function size(inBytes) {
  const unit = Math.max(0, Math.min(4, Math.floor(Math.log2(inBytes || 1) / 10)));
  const value = inBytes / 1024 ** unit;
  const isWhole = value >= 100 || Math.abs(value - Math.round(value)) < 1e-6;
  return `${isWhole ? count(Math.round(value)) : value.toFixed(1)} ${UNITS[unit]}`;
}

// Gives keep(name, of, make): what make() gives, made again only where a value in `of` is not the one of the last time.
export function kept() {
  const last = new Map();
  return (name, of, make) => {
    const known = last.get(name);
    if (known?.of.length === of.length && of.every((value, i) => value === known.of[i])) return known.made;
    const made = make();
    last.set(name, { of, made });
    return made;
  };
}
