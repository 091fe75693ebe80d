import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import {
  argumentsProblem,
  isValueFlag,
  joinArguments,
  readFlags,
  splitArguments,
} from './terraform-arguments.ts';

describe('arguments in one text', () => {
  it('are split as the tools split TF_CLI_ARGS', () => {
    for (const [text, words] of [
      ['', []],
      ['  -a  -b=c\t-d\n', ['-a', '-b=c', '-d']],
      [`-var 'x=a b' -var="y=\\"z\\""`, ['-var', 'x=a b', '-var=y="z"']],
      [`-st'a'te"=x" a\\ b ''`, ['-state=x', 'a b', '']],
      [`'a;b|c&d<e>(f)\`g' "h;'i"`, ['a;b|c&d<e>(f)`g', "h;'i"]],
      ['-a\u00a0-b', ['-a\u00a0-b']],
    ] as const) {
      assert.deepEqual(splitArguments(text), words, text);
    }
  });

  it('cannot be half of a quote, nor what only a shell knows', () => {
    for (const text of ["'", '"a', 'a\\', '-a;rm', '-a | b', '$(x)', '`x`', '-a > b', '-a & b'])
      assert.throws(() => splitArguments(text), Error, text);
  });

  it('are the same after they were joined', () => {
    fc.assert(
      fc.property(fc.array(fc.string({ unit: 'grapheme' })), (words) =>
        assert.deepEqual(splitArguments(joinArguments(words)), words),
      ),
    );
  });
});

describe('arguments are read as the tools read them', () => {
  for (const [text, values] of [
    ['-var a=1 --var b=2 -var=c=3 -lock=false', ['-var=a=1', '-var=b=2', '-var=c=3']],
    [`-var-file 'x y' --var-file=z`, ['-var-file=x y', '-var-file=z']],
    ['-var -var=a=1', ['-var=-var=a=1']],
    ['-compact-warnings -var=a=1', ['-var=a=1']],
    ['-generate-config-out x -var=a=1', ['-var=a=1']],
  ] as const)
    it(text, () => {
      const flags = readFlags(splitArguments(text)).filter(isValueFlag);
      assert.deepEqual(
        flags.map(({ name, value }) => `${name}=${value}`),
        values,
      );
    });

  it('and refused where it is not clear whether they set a variable', () => {
    for (const [text, problem] of [
      ['-generate-config-out -var=a=1', /^an argument that sets variables follows -generate-config-out: /],
      ['-lock-timeout -var a=1', /follows -lock-timeout/],
      ['-Secret -var-file=x', /follows another argument/],
      ['-lock=false -var', /^-var needs a value$/],
    ] as const)
      assert.match(argumentsProblem('plan', text) ?? '', problem, text);
  });
});

describe('arguments that no run can take', () => {
  for (const [verb, text, flag] of [
    ['apply', '-state-out=x', '-state-out'],
    ['state_pull', '--state x', '-state'],
    ['', '-chdir=..', '-chdir'],
    ['plan', '-lock=false "-destroy"', '-destroy'],
    ['plan', '-refresh-only', '-refresh-only'],
    ['apply', '-json', '-json'],
    ['', '-json-into=x', '-json-into'],
    ['init', '-backend=false', '-backend'],
    ['', '-backend=F', '-backend'],
    ['plan', "-o'ut'=x", '-out'],
  ] as const) {
    it(`${verb === '' ? 'all' : verb}: ${text}`, () =>
      assert.match(argumentsProblem(verb, text) ?? '', new RegExp(`^${flag}\\b.*remove it$`)));
  }

  it('are not those that only look alike', () => {
    for (const [verb, text] of [
      ['init', '-backend -backend-config=x=y -upgrade'],
      ['plan', `-parallelism=3 -var 'a=-state b' -var=state=x -lock-timeout=60s`],
      ['output', '-json'],
    ] as const)
      assert.equal(argumentsProblem(verb, text), null, text);
  });
});
