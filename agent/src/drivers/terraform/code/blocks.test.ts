import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parse } from '@cdktn/hcl2json';
import { elementsOf, type HclElement, hclElements } from './blocks.ts';

/** Names, labels and tokens in a form that is easy to read. */
function read(text: string): string[] {
  return hclElements(text).map(({ name, labels, tokens }) =>
    [name, ...labels, ...(labels.length > 0 || tokens.includes('=') ? ['{'] : ['=']), ...tokens]
      .join(' ')
      .replaceAll('\n', ';'),
  );
}

test('attributes end with their line, unless a bracket is open', () => {
  assert.deepEqual(read('a = 1\nb = [\n  1, # one\n  "]",\n]\nc = f(\n  x)\n\n'), [
    'a = 1',
    'b = [ ; 1 , ; "]" , ; ]',
    'c = f ( ; x )',
  ]);
});

test('blocks have labels and a body, also on one line', () => {
  assert.deepEqual(read('resource "a" "b" {\n  c = 1\n}\nmodule "d" { source = "./x" }\r\n'), [
    'resource "a" "b" { ; c = 1 ;',
    'module "d" { source = "./x"',
  ]);
  const [block] = hclElements('a {\n  b {\n    c = 1\n  }\n  d = { e = 2 }\n}');
  assert.deepEqual(
    elementsOf(block?.tokens ?? []).map(({ name, tokens }) => [name, tokens.filter((one) => one !== '\n')]),
    [
      ['b', ['c', '=', '1']],
      ['d', ['{', 'e', '=', '2', '}']],
    ],
  );
});

test('comments are left out, and their signs in texts are not comments', () => {
  assert.deepEqual(read('# a = {\n// b\n/* c = "\n */ d = "#//" /* e */ # f\n'), ['d = "#//"']);
});

test('texts contain quotes, braces and interpolations', () => {
  for (const text of [
    '"\\"}"',
    '"${a["}"]}"',
    '"$${"',
    '"%%{"',
    '"${"${"x}"}"}"',
    '"%{ if a }${b}%{ endif }"',
    '"$"',
    '"${{a = "}"}}"',
  ])
    assert.deepEqual(
      hclElements(`a = ${text}\nb = 1\n`).map(({ name, tokens }) => [name, tokens.join('')]),
      [
        ['a', text],
        ['b', '1'],
      ],
      text,
    );
});

test('a heredoc ends with a line of its name only', () => {
  const heredocs = [
    '<<EOF\nmodule "x" {\n}\nEOFX\n EOF x\nEOF',
    '<<-EOF\n  "\n  }\n  EOF',
    '<<EOF\n${join("-", [\n"EOF"])}\nEOF',
    '<<EOF\n$${\nEOF',
    '<<EOF\nEOF',
  ];
  for (const text of heredocs)
    assert.deepEqual(
      hclElements(`a = ${text}\nb = 1\n`).map(({ name, tokens }) => [name, tokens.join('')]),
      [
        ['a', text],
        ['b', '1'],
      ],
      text,
    );
});

test('what is not HCL is refused in linear time', () => {
  for (const text of [
    'a = <<E\n\u0085E\nE\n',
    'a = "\uFEFF"',
    'a {',
    '}',
    'a = "x',
    'a = "x\n"',
    '/* a',
    'a = <<EOF\nx',
    '= 1',
    'a b',
    'a = "${"',
    'a {} b',
  ])
    assert.throws(() => hclElements(text), text);
  for (const text of [
    '/*'.repeat(500_000),
    '"${'.repeat(500_000),
    'a = <<A\n'.repeat(200_000),
    '{'.repeat(500_000),
  ])
    assert.throws(() => hclElements(text), text.slice(0, 10));
});

test('the blocks of random texts are those that the parser of HCL finds, or an error', async () => {
  const parts = [
    ...[
      '<<E\n',
      '<<-E\n',
      'E\n',
      '  E\n',
      'E',
      '\n',
      '\r\n',
      '$',
      '%',
      '$$',
      '%%',
      '${',
      '%{',
      '$${',
      '%%{',
      '${~',
    ],
    ...[
      '}',
      '~}',
      '{',
      '"',
      '\\',
      '\\"',
      '${"',
      '"}',
      'a',
      ' ',
      '\t',
      '#',
      '//',
      '/*',
      '*/',
      'x = ',
      'b "l" {',
      '[',
      ']',
    ],
    ...['(', ')', ',', '1', '-', '.', '$E\n', '%E\n', '${1}', '$\n', '%\n', 'é', ' if a ', '%{ endif }'],
  ];
  let seed = 7;
  const below = (limit: number) => {
    seed = (seed * 1_103_515_245 + 12_345) % 2 ** 31;
    return Math.floor((seed / 2 ** 31) * limit);
  };
  const rest = 'bb "q" {\n}\ncc = 1\n';
  let valid = 0;
  for (let count = 0; count < 3000; count += 1) {
    const body = Array.from({ length: 1 + below(7) }, () => parts[below(parts.length)]).join('');
    const texts = [
      `aa = <<E\n${body}\nE\n`,
      `aa = "${body}"\n`,
      `aa = ${body}\n`,
      `zz {\n aa = <<-E\n${body}\n  E\n}\n`,
    ];
    const text = `${texts[below(4)]}${rest}`;
    const expected = await parse('random.tf', text).catch(() => null);
    if (expected === null) continue;
    valid += 1;
    let found: HclElement[];
    try {
      found = hclElements(text);
    } catch {
      continue;
    }
    assert.deepEqual([...new Set(found.map(({ name }) => name))].sort(), Object.keys(expected).sort(), text);
  }
  assert.ok(valid > 500, String(valid));
});
