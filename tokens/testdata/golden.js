// golden.js makes the golden files of package tokens with the reference code:
// the npm package tiktoken 1.0.22, which is OpenAI's Rust implementation.
//
//   npm install tiktoken@1.0.22
//   node golden.js texts 1 600 >texts.jsonl     seed, texts of each kind
//   node golden.js files FILE... >files.jsonl   each line of each file is a text
//   node golden.js classes >classes.txt         what the patterns' classes hold
//
// A line of texts.jsonl is {"t": text, "o": [count, hash], "c": [count, hash]}:
// o200k_base and cl100k_base, the hash as in idHash below. A line of files.jsonl
// sums up a file: {"file", "lines", "o": [tokens, hash over all ids], "c": ...}.
const fs = require('fs');
const path = require('path');
const {get_encoding, Tiktoken} = require('tiktoken');

const encodings = {o: get_encoding('o200k_base'), c: get_encoding('cl100k_base')};

// fnv continues a 32-bit FNV-1a hash over ids, four bytes each, lowest first.
function fnv(hash, ids) {
  for (const id of ids) {
    for (let shift = 0; shift < 32; shift += 8) {
      hash = Math.imul(hash ^ ((id >>> shift) & 255), 0x01000193) >>> 0;
    }
  }
  return hash;
}
const fnvStart = 0x811c9dc5;

let state = 1;
function rand(n) { // xorshift32
  state ^= state << 13; state >>>= 0;
  state ^= state >>> 17;
  state ^= state << 5; state >>>= 0;
  return state % n;
}
const pick = (list) => list[rand(list.length)];
const many = (max, f) => Array.from({length: 1 + rand(max)}, f).join('');

const words = ('the of Retrieval augmented generation scores claims HTTPServer iPhone don\'t I\'ll WE\'VE they\'re o\'clock naïve café ' +
  'Straße ΑΒΓ αβγ Привет МИР 東京 日本語 漢字かな カタカナ 한국어 العربية עברית हिन्दी ภาษาไทย ǅ ʰ ª Ⅷ ½ ² ١٢٣ 12 345 6789 1234567 3.14 ' +
  '1,000,000 $9.99 http://a.b/c?d=e&f=/ C:\\x\\y foo_bar fooBar XMLParser eTag A1b2 <|endoftext|> <|fim_prefix|> <|im_start|> 👍 👨‍👩‍👧 🇩🇪 e\u0301 n\u0303 ' +
  '\'ſ \'S \'T x\'ſy \u017f K ﬁ ß ẞ İ ı').split(' ');
const marks = [' ', ' ', ' ', '  ', '\n', '. ', ', ', '-', '/', '//', ':', '\'', '"', '(', ')', '{', '}', '\t', '\u00a0', '_', '...', '!?'];
const blank = [' ', ' ', ' ', '\n', '\n', '\r\n', '\r', '\t', '\u00a0', '\u3000', '\u2028', '\u0085', '\v', '\f', '\u200b', '\u200a', 'a', 'B', '.', '/', '1', '\u0301'];
const code = ['func ', 'if (', ') {\n', '}\n', '\t', '\t\t', '    ', '        ', ' := ', ' == ', 'return ', '// ', '/* ', ' */\n', '"', '\\n', '[]', '();', '->', '<div class="', '">', '</div>', '#include <', 'x', 'y1', 'fooBar', 'SELECT * FROM ', '\r\n', '0x1F', '1e-9', '&&', '||', '!=', '/\n', '//\r\n'];
const letters = ['a', 'B', 'ǅ', 'ʰ', '日', 'ا', '\u0301', '\u0903', '1', '\'', 's', 'S', 'ſ', 'LL', 've', ' ', 'É', 'é', '\n', '\'RE', '-'];
const ranges = [[0, 0x80], [0x80, 0x250], [0x250, 0x600], [0x600, 0xe00], [0xe00, 0x2000], [0x2000, 0x3000], [0x3000, 0xa000], [0xa000, 0xd800], [0xe000, 0x10000], [0x10000, 0x12000], [0x16000, 0x1f000], [0x1f000, 0x20000], [0x20000, 0x32000], [0, 0x110000]];
function anyRune() {
  for (;;) {
    const [lo, hi] = pick(ranges);
    const c = lo + rand(hi - lo);
    if (c < 0xd800 || c > 0xdfff) return String.fromCodePoint(c);
  }
}
const kinds = {
  words: () => many(24, () => pick(words) + pick(marks)),
  glued: () => many(10, () => pick(words)),
  blank: () => many(14, () => pick(blank)),
  code: () => many(30, () => pick(code)),
  letters: () => many(12, () => pick(letters)),
  unicode: () => many(24, anyRune),
  script: () => { const [lo, hi] = pick(ranges.slice(0, 7)); return many(30, () => rand(5) ? String.fromCodePoint(lo + rand(hi - lo)) : ' '); },
  ends: () => many(4, () => pick(words) + pick(marks)) + many(6, () => pick([' ', '\n', '\r', '\t', '\u3000'])),
  runs: () => pick(['a', 'A', ' ', '\n', '.', '=', '-', '0', 'é', '日', 'ab', 'aA', 'Aa', ' a', '\u0301', '\'s', '👍', 'xyz']).repeat(1 + rand(300)) + pick(words),
};

function line(text) {
  const out = {t: text};
  for (const k in encodings) {
    const ids = encodings[k].encode_ordinary(text);
    out[k] = [ids.length, fnv(fnvStart, ids)];
  }
  return JSON.stringify(out);
}

function texts(seed, n) {
  state = seed >>> 0 || 1;
  console.log(line(''));
  for (const w of [...words, ...marks, ...blank, ...letters]) console.log(line(w));
  for (const name in kinds) for (let i = 0; i < n; i++) console.log(line(kinds[name]()));
}

function files(names) {
  for (const name of names) {
    const out = {file: path.basename(path.dirname(name)) + '/' + path.basename(name), lines: 0};
    const lines = fs.readFileSync(name, 'utf8').split('\n');
    out.lines = lines.length;
    for (const k in encodings) {
      let count = 0, hash = fnvStart;
      for (const l of lines) {
        const ids = encodings[k].encode_ordinary(l);
        count += ids.length;
        hash = fnv(hash, ids);
      }
      out[k] = [count, hash];
    }
    console.log(JSON.stringify(out));
  }
}

// classes prints, for each class of the patterns, the number of characters in
// it and a hash of them.
function classes() {
  const {bpe_ranks} = require('tiktoken/encoders/cl100k_base.json');
  const patterns = {
    upper: '[\\p{Lu}\\p{Lt}\\p{Lm}\\p{Lo}\\p{M}]', lower: '[\\p{Ll}\\p{Lm}\\p{Lo}\\p{M}]',
    letter: '\\p{L}', number: '\\p{N}', space: '\\s',
  };
  for (const name in patterns) {
    const e = new Tiktoken(bpe_ranks, {}, patterns[name]);
    let count = 0, hash = fnvStart;
    for (let c = 0; c < 0x110000; c++) {
      if (c >= 0xd800 && c < 0xe000) continue;
      if (e.encode_ordinary(String.fromCodePoint(c)).length > 0) {
        count++;
        hash = fnv(hash, [c]);
      }
    }
    console.log(name, count, hash);
  }
}

const [, , what, ...rest] = process.argv;
if (what === 'texts') texts(Number(rest[0]), Number(rest[1]));
else if (what === 'files') files(rest);
else if (what === 'classes') classes();
else throw new Error('usage: node golden.js texts SEED N | files FILE... | classes');
