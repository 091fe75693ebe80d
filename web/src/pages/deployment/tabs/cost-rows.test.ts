import assert from 'node:assert/strict';
import { test } from 'node:test';
import { moneyChangeText, moneyText } from '../../../design/money.ts';
import { costRows } from './cost-rows.ts';

test('resources have their costs and what changes, also those that are removed or cost by usage', () => {
  const resources = [
    { name: 'a', resourceType: 'aws_instance', monthlyCost: '10' },
    { name: 'c', monthlyCost: 'much', isWithoutPrice: true },
    { name: 'b', monthlyCost: '20.5' },
  ];
  const diff = {
    resources: [
      { name: 'b', monthlyCost: '0.5' },
      { name: 'old', monthlyCost: '-3' },
    ],
  };
  const row = (name: string, monthly: number | undefined, change: number, more: object = {}) => ({
    name,
    type: '',
    unit: 'net',
    isWithoutPrice: false,
    monthly,
    change,
    ...more,
  });
  assert.deepEqual(costRows({ projects: [{ name: 'net', breakdown: { resources }, diff }] }), [
    row('b', 20.5, 0.5),
    row('a', 10, 0, { type: 'aws_instance' }),
    row('c', undefined, 0, { isWithoutPrice: true }),
    row('old', 0, -3),
  ]);
  assert.deepEqual(costRows({}), []);
});

test('amounts have a sign where they are a change, and any text as their currency', () => {
  assert.deepEqual(
    [moneyText(1234.5), moneyChangeText(2, 'EUR'), moneyChangeText(-2), moneyChangeText(0, '<b>')],
    ['1,234.50 USD', '+2.00 EUR', '−2.00 USD', '±0.00 <b>'],
  );
});
