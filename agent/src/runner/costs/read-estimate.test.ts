import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { cutMasked } from '../../logs/mask.ts';
import { estimateInWords, readEstimate } from './read-estimate.ts';

const resource = (name: string, monthlyCost: string | null, more: object = {}) => ({
  name,
  resourceType: 'aws_thing',
  monthlyCost,
  tags: { owner: 'somebody' },
  ...more,
});

function printed(resources: object[], more: object = {}, name = 'plan-0') {
  return {
    name,
    pastBreakdown: { totalMonthlyCost: '1', resources: [] },
    breakdown: { totalMonthlyCost: '3.5', resources },
    diff: { totalMonthlyCost: '2.5', resources: [] },
    ...more,
  };
}

const cutWith = (secrets: string[]) => (text: string, most: number) => cutMasked(text, most, secrets);

const read = (projects: object[], units: (string | null)[] = [null], secrets: string[] = []) =>
  readEstimate(JSON.stringify({ currency: 'USD', projects }), units, cutWith(secrets));

test('the dearest resources come first, and what has no price is counted', () => {
  const missing = { subresources: [{ costComponents: [{ priceNotFound: true }] }] };
  const estimate = read([
    printed([resource('a', '1'), resource('b', '2.5', missing), resource('c', null)], {
      summary: { unsupportedResourceCounts: { aws_odd: 2, hostile: -1, other: 'x' } },
    }),
  ]);
  assert.deepEqual(estimate, {
    totalMonthlyCost: 3.5,
    monthlyCostDiff: 2.5,
    currency: 'USD',
    projects: [
      {
        pastBreakdown: { totalMonthlyCost: '1' },
        breakdown: {
          totalMonthlyCost: '3.5',
          resources: [
            { name: 'b', resourceType: 'aws_thing', monthlyCost: '2.5', isWithoutPrice: true },
            { name: 'a', resourceType: 'aws_thing', monthlyCost: '1' },
            { name: 'c', resourceType: 'aws_thing' },
          ],
        },
        diff: { totalMonthlyCost: '2.5', resources: [] },
        unsupported: { aws_odd: 2 },
      },
    ],
    withoutPrice: 1,
  });
  assert.deepEqual(estimateInWords(estimate).split('\n'), [
    'Costs per month: 3.50 USD, 2.50 more than before.',
    '          2.50  b (a price is missing)',
    '          1.00  a',
    '      by usage  c',
    'A price is missing for 1 resource: they count less than they cost.',
    'Not included, because Infracost does not know them: 2 aws_odd.',
  ]);
});

test('units are added up, and found by their places whatever their paths are', () => {
  const estimate = read([printed([], {}, 'plan-1'), printed([], {}, 'plan-0')], ['../odd: "path"', 'b']);
  assert.equal(estimate.totalMonthlyCost, 7);
  assert.deepEqual(
    estimate.projects?.map(({ name }) => name),
    ['../odd: "path"', 'b'],
  );
});

test('of thousands of resources the dearest stay, and the totals are those of all', () => {
  const many = Array.from({ length: 5000 }, (_, index) => resource(`r${index}`, String(index)));
  const estimate = read([printed(many)]);
  assert.equal(estimate.projects?.[0]?.breakdown?.resources?.length, 300);
  assert.equal(estimate.projects?.[0]?.breakdown?.resources?.[0]?.name, 'r4999');
  assert.equal(estimate.omitted, 4700);
  assert.match(estimateInWords(estimate), /and 4950 other resources/);
});

test('a long name shows no part of a secret where it is cut', () => {
  const name = `${'x'.repeat(490)}planted-secret-0123456789`;
  const estimate = read([printed([resource(name, '1')])], [null], ['planted-secret-0123456789']);
  assert.equal(estimate.projects?.[0]?.breakdown?.resources?.[0]?.name, `${'x'.repeat(490)}***`);
});

test('other texts than estimates are refused', () => {
  for (const text of ['', 'null', '[]', '{', '{"projects":[]}', '{"projects":[{"name":"plan-0"}]}'])
    assert.throws(
      () => readEstimate(text, [null], cutWith([])),
      /what infracost printed is not an estimate/,
      text,
    );
  for (const totalMonthlyCost of ['1e99', 'NaN', '9'.repeat(400), 5, {}])
    assert.throws(() => read([printed([], { breakdown: { totalMonthlyCost } })]), /should be an amount/);
  const none = resource('a', '0', { costComponents: [{ priceNotFound: true }] });
  assert.throws(() => read([printed([none])]), /has no price for any of the resources/);
});

test('whatever is printed, an estimate is numbers and short lists, or an error', () => {
  fc.assert(
    fc.property(fc.anything({ withNullPrototype: true }), fc.anything(), (breakdown, summary) => {
      let estimate;
      try {
        estimate = readEstimate(
          JSON.stringify({ projects: [{ name: 'plan-0', breakdown, summary }] }) ?? '',
          [null],
          cutWith([]),
        );
      } catch (error) {
        assert.ok(error instanceof Error);
        return;
      }
      assert.ok(Number.isFinite(estimate.totalMonthlyCost) && Number.isFinite(estimate.monthlyCostDiff));
      assert.ok(estimateInWords(estimate).length < 100_000);
    }),
  );
});
