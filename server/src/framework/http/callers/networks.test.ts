import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isInside, problemOfNetwork } from './networks.ts';

test('addresses are compared with networks of both families', () => {
  const networks = ['192.0.2.0/24', '2001:db8::/32', '198.51.100.7'];
  for (const inside of ['192.0.2.0', '192.0.2.255', '2001:db8:1::2', '2001:DB8::', '198.51.100.7'])
    assert.ok(isInside(networks, inside), inside);
  for (const outside of ['192.0.3.0', '2001:db9::1', '198.51.100.8', '::1', '', 'unknown'])
    assert.ok(!isInside(networks, outside), outside);
});

test('an address of IPv4 is the same in its IPv6 form, and nothing else of IPv6 counts as IPv4', () => {
  for (const mapped of [
    '::ffff:192.0.2.1',
    '::FFFF:c000:201',
    '0:0:0:0:0:ffff:192.0.2.1',
    '::ffff:192.0.2.1%eth0',
  ])
    assert.ok(isInside(['192.0.2.0/24'], mapped), mapped);
  assert.ok(!isInside(['192.0.2.0/24'], '::ffff:192.0.3.1'));
  assert.ok(!isInside(['192.0.2.0/24'], '::192.0.2.1'));
  assert.ok(!isInside(['::/0'], '192.0.2.1'));
  assert.ok(!isInside(['::/0'], '::ffff:192.0.2.1'));
  assert.ok(!isInside(['0.0.0.0/0'], '2001:db8::1'));
  assert.ok(isInside(['0.0.0.0/0'], '::ffff:192.0.2.1'));
});

test('values that are not networks are reported', () => {
  for (const good of ['10.0.0.1', '10.0.0.0/8', '0.0.0.0/0', '::1', 'fe80::/10', '2001:db8::/128'])
    assert.equal(problemOfNetwork(good), null, good);
  const bad: [string, RegExp][] = [
    ['10.0.0.0/33', /0 to 32/],
    ['::/129', /0 to 128/],
    ['10.0.0.0/', /0 to 32/],
    ['10.0.0.0/-1', /0 to 32/],
    ['10.0.0/8', /not an address/],
    ['10.0.0.0/8/8', /not an address/],
    ['fe80::1%eth0', /not an address/],
    ['example.com', /not an address/],
    ['', /not an address/],
    ['::ffff:10.0.0.0/104', /write them as such/],
  ];
  for (const [text, problem] of bad) assert.match(problemOfNetwork(text) ?? '', problem, text);
});
