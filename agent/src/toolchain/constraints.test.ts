import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import fc from 'fast-check';
import { compare } from 'semver';
import { temporaryFolder } from '../../../tools/suite/temporary-folder.ts';
import { findProgram } from '../processes/programs.ts';
import { parseConstraints, satisfies } from './constraints.ts';

function meets(version: string, constraint: string): boolean {
  return satisfies(version, parseConstraints(constraint));
}

test('~> allows higher values of the last specified number', () => {
  for (const version of ['1.2.0', '1.3.0', '1.99.9']) assert.ok(meets(version, '~> 1.2'), version);
  for (const version of ['1.1.9', '2.0.0']) assert.ok(!meets(version, '~> 1.2'), version);
  for (const version of ['1.2.3', '1.2.99']) assert.ok(meets(version, '~> 1.2.3'), version);
  for (const version of ['1.2.2', '1.3.0']) assert.ok(!meets(version, '~> 1.2.3'), version);
  assert.ok(meets('7.0.0', '~> 1'), 'one number alone has no upper end');
});

test('conditions are joined by commas and all must hold', () => {
  assert.ok(meets('1.5.7', '>= 1.4.0, < 2.0.0'));
  assert.ok(!meets('1.5.0', '>= 1.4.0, != 1.5.0'));
  assert.ok(meets('1.4.0', '1.4'));
  assert.ok(!meets('1.4.1', 'v1.4'));
});

test('prereleases count only where they are named', () => {
  assert.ok(!meets('1.6.0-beta1', '>= 1.0'));
  assert.ok(!meets('1.6.0-beta1', '~> 1.6'));
  assert.ok(meets('1.6.0-beta1', '= 1.6.0-beta1'));
  assert.ok(meets('1.6.0-beta2', '>= 1.6.0-beta1'));
  assert.ok(!meets('1.7.0-beta2', '>= 1.6.0-beta1'));
  assert.ok(meets('1.6.0', '>= 1.6.0-beta1'));
});

test('an invalid constraint is quoted in the error', () => {
  for (const wrong of [
    '',
    '>= 1.0,',
    '== 1.0',
    '=> 1.0',
    '>= 1.x',
    '>= 1.0 < 2.0',
    '^1.0',
    'latest',
    '>= 99999999999999999999',
  ])
    assert.throws(() => parseConstraints(wrong), /is not a version constraint/, wrong);
  assert.throws(() => parseConstraints('>= 1.0, banana'), /"banana"/);
});

const number = fc.nat({ max: 30 });
const release = fc.tuple(number, number, number).map((parts) => parts.join('.'));
const operator = fc.constantFrom('=', '!=', '>', '>=', '<', '<=', '~>');
const blank = fc.constantFrom('', ' ', '  ');
const short = fc.array(number, { minLength: 1, maxLength: 3 }).map((parts) => parts.join('.'));

test('each operator agrees with a comparison of the versions, however it is spaced', () => {
  fc.assert(
    fc.property(release, release, blank, blank, (version, bound, before, between) => {
      const order = compare(version, bound);
      const expected = {
        '=': order === 0,
        '!=': order !== 0,
        '>': order > 0,
        '>=': order >= 0,
        '<': order < 0,
        '<=': order <= 0,
      };
      for (const [sign, holds] of Object.entries(expected))
        assert.equal(meets(version, `${before}${sign}${between}${bound}${before}`), holds);
    }),
  );
});

test('~> is the same as a lower and an upper bound', () => {
  fc.assert(
    fc.property(release, fc.array(number, { minLength: 2, maxLength: 3 }), (version, parts) => {
      const upper = parts.slice(0, -1);
      upper.push((upper.pop() ?? 0) + 1);
      assert.equal(
        meets(version, `~> ${parts.join('.')}`),
        meets(version, `>= ${parts.join('.')}, < ${upper.join('.')}`),
      );
    }),
  );
});

test('the order of conditions does not matter', () => {
  fc.assert(
    fc.property(
      release,
      fc.array(fc.tuple(operator, short), { minLength: 1, maxLength: 4 }),
      (version, conditions) => {
        const texts = conditions.map(([sign, bound]) => `${sign} ${bound}`);
        const together = meets(version, texts.join(', '));
        assert.equal(together, meets(version, texts.toReversed().join(',')));
        assert.equal(
          together,
          texts.every((text) => meets(version, text)),
        );
      },
    ),
  );
});

const terraform = findProgram('terraform');

test('the tool itself reads constraints in the same way', {
  skip: terraform === null ? 'needs terraform' : false,
}, (t) => {
  const folder = temporaryFolder(t, 'constraints-');
  const environment = { PATH: '/usr/bin:/bin', CHECKPOINT_DISABLE: '1', TF_CLI_CONFIG_FILE: '/dev/null' };
  const answer = execFileSync(terraform ?? '', ['version', '-json'], { encoding: 'utf8', env: environment });
  const { terraform_version: version } = JSON.parse(answer) as { terraform_version: string };
  const [major, minor, patch] = version.split('.').map(Number) as [number, number, number];
  const constraints = [
    `~> ${major}.${minor - 1}`,
    `~> ${major}.${minor}.${patch}`,
    `~> ${major}.${minor - 1}.0`,
    '~> 0',
    `~>${version}.0`,
    `>= ${version}.0`,
    `${major}.${minor}`,
    `v${version}`,
    `> 1.0, < ${major}.${minor + 1}, != ${major}.${minor}.${patch + 1}`,
    `!= ${version}`,
    '>= 01.2',
  ];
  for (const constraint of constraints) {
    writeFileSync(join(folder, 'main.tf'), `terraform {\n  required_version = "${constraint}"\n}\n`);
    const accepts =
      spawnSync(terraform ?? '', ['init', '-input=false'], { cwd: folder, env: environment }).status === 0;
    assert.equal(meets(version, constraint), accepts, constraint);
  }
});
