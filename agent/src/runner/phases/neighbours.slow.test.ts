import assert from 'node:assert/strict';
import { test } from 'node:test';
import { confinements } from '../../../testing/attacks.ts';
import { attackOnce, median, neighbours, secondsOfPlan } from '../../../testing/neighbours.ts';
import { findProgram } from '../../processes/programs.ts';

const pairs = 9;
const mostTimes = 1.5;
const endSeconds = 5;

const attacks = [
  {
    name: 'a fork bomb',
    // A shell gives up where it cannot fork.
    command: `perl -e '$| = 1; my $said; while (1) { defined(fork) or $said++ or print "full\\n" }'`,
    reached: /local-exec\).*full/,
    needs: 'perl',
  },
  {
    name: 'a run that takes memory',
    command:
      'for i in 1 2 3 4 5 6 7 8; do python3 -c "import time; x = bytearray(60 << 20); print(7654321, flush=True); time.sleep(100)" & done; wait',
    reached: /(local-exec\).*7654321[^]*){6}/,
    needs: 'python3',
  },
];

for (const { name, command, reached, needs } of attacks)
  for (const confinement of confinements) {
    // Without namespaces, killed processes count until the first process of the machine has read their end.
    const isFelt = name === 'a fork bomb' && confinement.options.isolation === 'off';
    const most = isFelt ? Infinity : mostTimes;
    const claim = isFelt ? 'gets on' : `takes at most ${most} times as long`;
    test(`a run next to ${name} ${claim}, and that one ends in ${endSeconds} s, confined ${confinement.name}`, {
      skip: confinement.skip || (findProgram(needs) === null ? `needs ${needs}` : false),
    }, async (t) => {
      const { attacker, neighbour } = neighbours(t, confinement, command);
      await secondsOfPlan(neighbour);
      const ratios: number[] = [];
      const ends: number[] = [];
      for (let pair = 0; pair < pairs; pair++) {
        const alone = await secondsOfPlan(neighbour);
        const end = await attackOnce(attacker, reached, async () => {
          ratios.push((await secondsOfPlan(neighbour)) / alone);
        });
        ends.push(end);
      }
      const list = (values: readonly number[]) => values.map((value) => value.toFixed(2)).join(', ');
      t.diagnostic(`times: ${list(ratios)}; seconds from the limit to the end: ${list(ends)}`);
      assert.ok(median(ratios) <= most, list(ratios));
      assert.ok(Math.max(...ends) <= endSeconds, list(ends));
    });
  }
