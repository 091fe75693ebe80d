import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { bytesOfLogEvent, logBytesEvents } from './log-bytes.ts';

/** Cuts bytes anywhere, sends what can be sent of each piece, and the rest in front of the next. */
function travel(bytes: Uint8Array, cuts: readonly number[]) {
  const borders = [...new Set(cuts.map((cut) => cut % (bytes.length + 1)))].sort((one, other) => one - other);
  const events: ReturnType<typeof logBytesEvents>['events'] = [];
  let sent = 0;
  for (const to of [...borders, bytes.length]) {
    const isFinal = to === bytes.length;
    if (to < sent) continue;
    const part = logBytesEvents({ step: 'tf:plan', offset: sent, bytes: bytes.subarray(sent, to), isFinal });
    events.push(...part.events);
    sent += part.consumed;
  }
  return events;
}

const anyBytes = fc.oneof(
  fc.uint8Array({ maxLength: 200 }),
  fc
    .array(
      fc.oneof(
        fc.string({ unit: 'binary' }).map((text) => new TextEncoder().encode(text)),
        fc.uint8Array({ maxLength: 3 }),
      ),
    )
    .map((parts) => Uint8Array.from(parts.flatMap((part) => [...part]))),
);

describe('log bytes in events', () => {
  it('come back byte for byte, whatever they are and wherever they are cut', () => {
    fc.assert(
      fc.property(anyBytes, fc.array(fc.nat()), (bytes, cuts) => {
        const events = travel(bytes, cuts);
        let offset = 0;
        for (const event of events) {
          assert.equal(event.offset, offset);
          assert.equal(bytesOfLogEvent(event).length, event.bytes);
          assert.equal((event.text === undefined) !== (event.base64 === undefined), true);
          offset += event.bytes;
        }
        assert.deepEqual(Uint8Array.from(events.flatMap((event) => [...bytesOfLogEvent(event)])), bytes);
      }),
      { numRuns: 500 },
    );
  });

  it('of text are text in every event, however they are cut', () => {
    fc.assert(
      fc.property(
        fc.string({ unit: 'binary' }).filter((text) => text.isWellFormed()),
        fc.array(fc.nat()),
        (text, cuts) => {
          const events = travel(new TextEncoder().encode(text), cuts);
          assert.ok(events.every((event) => event.text !== undefined));
          assert.equal(events.map((event) => event.text).join(''), text);
        },
      ),
    );
  });

  it('keep half a character back until its rest comes, and send it when none will', () => {
    const half = Uint8Array.from([0x61, 0xe2, 0x82]);
    assert.deepEqual(logBytesEvents({ step: 's', offset: 7, bytes: half, isFinal: false }), {
      events: [{ step: 's', offset: 7, bytes: 1, text: 'a' }],
      consumed: 1,
    });
    assert.deepEqual(logBytesEvents({ step: 's', offset: 7, bytes: half, isFinal: true }).events, [
      { step: 's', offset: 7, bytes: 1, text: 'a' },
      { step: 's', offset: 8, bytes: 2, base64: '4oI=' },
    ]);
  });

  it('of no text at all are few, and a text among them stays text', () => {
    const noise = Uint8Array.from(
      { length: 100_000 },
      (_, index) => (Math.imul(index + 1, 0x9e3779b1) >>> 11) & 0xff,
    );
    const sentence = new TextEncoder().encode('a sentence that is long enough to be read');
    const bytes = Uint8Array.from([...noise, 0xff, ...sentence, 0xff, ...noise]);
    const { events, consumed } = logBytesEvents({ step: 's', offset: 0, bytes, isFinal: true });
    assert.equal(consumed, bytes.length);
    assert.ok(events.length <= 5, `${events.length} events`);
    assert.ok(events.some(({ text }) => text?.includes('long enough to be read')));
  });

  it('keep a byte order mark, NUL and colours', () => {
    const text = '\uFEFF\u0000\u001b[31mred\u001b[0m';
    assert.equal(
      logBytesEvents({ step: 's', offset: 0, bytes: new TextEncoder().encode(text), isFinal: false })
        .events[0]?.text,
      text,
    );
  });
});
