import assert from 'node:assert/strict';
import { PassThrough } from 'node:stream';
import { describe, it } from 'node:test';
import { createOutput } from './output.ts';
import { plain } from './safe-text.ts';
import type { TableColumn } from './table.ts';

function terminal(columns: number, environment: Record<string, string> = {}, isTTY = true) {
  const stream = Object.assign(new PassThrough(), { isTTY, columns }) as unknown as NodeJS.WriteStream &
    PassThrough;
  return { output: createOutput(stream, environment), text: () => String(stream.read() ?? '') };
}

interface Row {
  readonly name: string;
  readonly id: string;
}
const columns: TableColumn<Row>[] = [
  { head: 'NAME', value: ({ name }) => name },
  { head: 'ID', value: ({ id }) => id, isWhole: true },
];
const id = '01a1fe1e-e0ce-79aa-a6e1-f64c41e03a0a';

/** A column whose only cell has this width. */
type Wide = { readonly width: number } & Pick<TableColumn<null>, 'isId' | 'isWhole' | 'isExtra'>;

/** The widths of the columns that a terminal of this width shows, by their heads; null: there are no columns. */
async function widthsIn(
  available: number,
  wide: Readonly<Record<string, Wide>>,
): Promise<Record<string, number> | null> {
  const { output, text } = terminal(available, { NO_COLOR: '1' });
  const columns = Object.entries(wide).map(([head, { width, ...more }]) => ({
    ...{ head, value: () => head.repeat(width) },
    ...more,
  }));
  await output.table([null], columns, 'none');
  const [heads = '', cells = ''] = text().split('\n');
  if (heads === '') return null;
  const shown = cells.split('  ').map((cell) => cell.length);
  return Object.fromEntries(heads.split(/ +/).map((head, index) => [head, shown[index] ?? 0]));
}

describe('tables', () => {
  it('tables are aligned columns without borders or colours if there is no terminal', async () => {
    const { output, text } = terminal(20, {}, false);
    await output.table(
      [
        { name: 'a'.repeat(60), id },
        { name: 'short', id: '2' },
      ],
      columns,
      'none',
    );
    assert.equal(
      text(),
      [`NAME${' '.repeat(58)}ID`, `${'a'.repeat(60)}  ${id}`, `short${' '.repeat(57)}2`, ''].join('\n'),
    );
  });

  it('tables fit the terminal, and never cut whole columns', async () => {
    const { output, text } = terminal(60, { NO_COLOR: '1' });
    await output.table([{ name: 'a'.repeat(60), id }], columns, 'none');
    const lines = text().trimEnd().split('\n');
    assert.ok(
      lines.every((line) => line.length <= 60),
      lines.join('\n'),
    );
    assert.match(lines[1] ?? '', /^a{10,}…a{10,}  .*$/);
    assert.ok(lines[1]?.endsWith(id));
  });

  it('tables cut ids to a beginning before they cut names', async () => {
    const { output, text } = terminal(40, { NO_COLOR: '1' });
    const named: TableColumn<Row>[] = [
      { head: 'NAME', value: ({ name }) => name },
      { head: 'ID', value: (row) => row.id, isId: true },
    ];
    await output.table([{ name: 'a-name-of-24-characters', id }], named, 'none');
    assert.equal(text().split('\n')[1], 'a-name-of-24-characters  01a1fe1e-e0ce-7');
    assert.deepEqual(await widthsIn(40, { a: { width: 30 }, b: { width: 36, isId: true } }), {
      a: 25,
      b: 13,
    });
  });

  it('tables keep what tells ids from each other, and the beginning and end of names', async () => {
    const { output, text } = terminal(50, { NO_COLOR: '1' });
    const named: TableColumn<Row>[] = [
      { head: 'NAME', value: ({ name }) => name },
      { head: 'ID', value: (row) => row.id, isId: true },
    ];
    const shared = 'module.network.module.subnets.aws_subnet.';
    const ids = [id, id.replace('79aa', '79ab'), id.replace('01a1', '01a2')];
    const names = [`${shared}eu-west-1a`, `${shared}eu-west-1b`, `短い名前${'長'.repeat(20)}終`];
    await output.table(
      names.map((name, index) => ({ name, id: ids[index] ?? '' })),
      named,
      'none',
    );
    assert.deepEqual(text().trimEnd().split('\n'), [
      'NAME                            ID',
      'module.network.…net.eu-west-1a  01a1fe1e-e0ce-79aa',
      'module.network.…net.eu-west-1b  01a1fe1e-e0ce-79ab',
      '短い名前長長長…長長長長長長終   01a2fe1e-e0ce-79aa',
    ]);
  });

  it('tables omit extra columns without values before they cut anything', async () => {
    const { output, text } = terminal(30, { NO_COLOR: '1' });
    const withEmpty: TableColumn<Row>[] = [
      { head: 'NAME', value: ({ name }) => name },
      { head: 'LOCKED', value: () => '', isExtra: true },
      { head: 'KIND', value: () => 'x', isExtra: true },
    ];
    await output.table([{ name: 'a-name-of-24-characters!', id }], withEmpty, 'none');
    assert.equal(text(), 'NAME                      KIND\na-name-of-24-characters!  x\n');
  });

  it('tables become blocks of names and values if whole columns do not fit', async () => {
    const { output, text } = terminal(20, { NO_COLOR: '1' });
    await output.table([{ name: 'web', id }], columns, 'none');
    assert.equal(text(), `\nNAME:  web\nID:    ${id}\n`);
  });

  it('a table without rows is a sentence', async () => {
    const { output, text } = terminal(80, {}, false);
    await output.table([], columns, 'No environments.');
    assert.equal(text(), 'No environments.\n');
  });

  it('tables contain no control characters', async () => {
    const { output, text } = terminal(80, {}, false);
    await output.table([{ name: 'one\u001b[31mred\u001b[0m\ntwo\u0007', id: '1' }], columns, 'none');
    assert.match(text(), /^onered two\\x07 {2}1$/m);
  });

  it('tables cut the widest column first, and none below a readable width', async () => {
    const wide = { a: { width: 30 }, b: { width: 10 }, c: { width: 36, isWhole: true } };
    assert.deepEqual(await widthsIn(70, wide), { a: 20, b: 10, c: 36 });
    assert.deepEqual(await widthsIn(56, wide), { a: 8, b: 8, c: 36 });
    assert.equal(await widthsIn(55, wide), null);
  });

  it('tables omit extra columns that do not fit, the last one first', async () => {
    const wide = {
      a: { width: 20 },
      b: { width: 19, isWhole: true, isExtra: true },
      c: { width: 40, isExtra: true },
      d: { width: 36, isWhole: true },
    };
    assert.deepEqual(await widthsIn(200, wide), { a: 20, b: 19, c: 40, d: 36 });
    assert.deepEqual(await widthsIn(80, wide), { a: 9, b: 19, c: 10, d: 36 });
    assert.deepEqual(await widthsIn(70, wide), { a: 11, b: 19, d: 36 });
    assert.deepEqual(await widthsIn(60, wide), { a: 20, d: 36 });
  });
});

describe('colours', () => {
  it('colours are shown only on a terminal with colours, unless NO_COLOR is set', () => {
    assert.equal(terminal(80).output.style('red', 'x'), '\u001b[31mx\u001b[39m');
    for (const { output } of [
      terminal(80, {}, false),
      terminal(80, { NO_COLOR: '1' }),
      terminal(80, { TERM: 'dumb' }),
    ]) {
      assert.equal(output.style('red', 'x'), 'x');
    }
  });

  it('colours are removed from text for one line', () => {
    assert.equal(plain('\u001b[1mbold\u001b[0m\r\nnext'), 'bold next');
  });
});

describe('signs', () => {
  it('signs are plain letters on a terminal whose locale is not UTF-8, and unchanged elsewhere', () => {
    const signs = (environment: Record<string, string>, isTTY = true) =>
      terminal(80, environment, isTTY).output.signs('✔ ▸ ✖ …');
    assert.equal(signs({ LC_ALL: 'C' }), '+ > x ...');
    assert.equal(signs({ LC_ALL: '', LANG: 'de_DE.ISO-8859-1' }), '+ > x ...');
    const others: Record<string, string>[] = [{}, { LANG: 'C.UTF-8' }, { LC_ALL: 'en_US.utf8', LANG: 'C' }];
    for (const environment of others) assert.equal(signs(environment), '✔ ▸ ✖ …');
    assert.equal(signs({ LC_ALL: 'C' }, false), '✔ ▸ ✖ …');
  });
});

describe('JSON', () => {
  it('JSON is one document, or one line', async () => {
    const { output, text } = terminal(80);
    await output.json({ a: [1] });
    await output.json({ a: [1] }, true);
    await output.json(null);
    assert.equal(text(), '{\n  "a": [\n    1\n  ]\n}\n{"a":[1]}\nnull\n');
  });
});

describe('fields', () => {
  it('fields keep the lines of a value, below each other and without control characters', async () => {
    const { output, text } = terminal(80, { NO_COLOR: '1' }, false);
    await output.fields([
      ['Id', '1'],
      ['Error', 'Error: no\n\n  on main.tf line 3\u001b[0m:\n'],
    ]);
    assert.equal(text(), 'Id:     1\nError:  Error: no\n\n          on main.tf line 3:\n');
  });
});
