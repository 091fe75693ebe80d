import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ServerClock } from './server-clock.ts';

const second = 1_000;

/** A machine whose clock is ahead of the service's by `wrongBy`; both start at 0 by the service's. */
function machine() {
  const state = { real: 0, wrongBy: 0 };
  const clock = new ServerClock(() => state.real + state.wrongBy);
  const shown = () => Date.parse(clock.of(new Date(clock.own()).toISOString()));
  /** A call that the service answers in the middle of its round trip. */
  const call = (milliseconds: number) => {
    const sentAt = clock.own();
    state.real += milliseconds / 2;
    const now = new Date(state.real).toISOString();
    state.real += milliseconds / 2;
    clock.compare(now, sentAt);
  };
  return { state, clock, shown, call };
}

test('times of a machine whose clock is right are left as they are', () => {
  const { state, clock, shown, call } = machine();
  state.wrongBy = 0.9 * second;
  call(20 * second);
  call(0);
  assert.equal(shown(), state.real + state.wrongBy);
  clock.compare('never', 0);
  assert.equal(shown(), state.real + state.wrongBy);
});

test('times of a machine whose clock is wrong become those of the service, in their order', () => {
  for (const wrongBy of [600 * second, -600 * second]) {
    const { state, shown, call } = machine();
    state.wrongBy = wrongBy;
    let last = -Infinity;
    for (const milliseconds of [200, 0, 30_000, 10, 5_000]) {
      call(milliseconds);
      assert.ok(Math.abs(shown() - state.real) <= second, `off by ${shown() - state.real}`);
      assert.ok(shown() >= last, 'times keep their order');
      last = shown();
    }
  }
});

test('corrections of the clock are followed', () => {
  const { state, shown, call } = machine();
  state.wrongBy = 600 * second;
  call(0);
  state.wrongBy = 0;
  call(0);
  assert.equal(shown(), state.real);
});
