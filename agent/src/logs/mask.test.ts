import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { createMasker, maskJson, maskText, patternsOf } from './mask.ts';
import { secretForms } from './secret-forms.ts';

function maskInChunks(bytes: Buffer, borders: readonly number[], secrets: readonly string[]): Buffer {
  const masker = createMasker(secrets);
  const parts: Uint8Array[] = [];
  let from = 0;
  for (const border of [...borders]
    .map((place) => place % (bytes.length + 1))
    .sort((left, right) => left - right)) {
    parts.push(Buffer.from(masker.push(bytes.subarray(from, border))));
    from = border;
  }
  return Buffer.concat([...parts, masker.push(bytes.subarray(from)), masker.end()]);
}

describe('masking a stream', () => {
  it('the result is the same for any chunk borders', () => {
    const secret = fc.string({
      minLength: 4,
      maxLength: 12,
      unit: fc.constantFrom('a', 'b', 'é', '"', '\n', ' '),
    });
    const text = fc.array(
      fc.oneof(fc.constantFrom('a', 'b', 'ab', 'é', '"', '\\n', '\n', ' '), fc.integer({ min: 0, max: 3 })),
      {
        maxLength: 60,
      },
    );
    fc.assert(
      fc.property(
        fc.array(secret, { minLength: 1, maxLength: 4 }),
        text,
        fc.array(fc.nat(), { maxLength: 12 }),
        (secrets, parts, borders) => {
          const bytes = Buffer.from(
            parts
              .map((part) => (typeof part === 'number' ? (secrets[part % secrets.length] ?? '') : part))
              .join(''),
          );
          assert.deepEqual(maskInChunks(bytes, borders, secrets), maskInChunks(bytes, [], secrets));
        },
      ),
      { numRuns: 500 },
    );
  });

  it('no occurrence of a secret remains, whatever surrounds it', () => {
    const secret = fc
      .string({ minLength: 4, maxLength: 40, unit: 'binary' })
      .filter((text) => text.trim().length >= 4 && text.isWellFormed() && !text.includes('***'));
    fc.assert(
      fc.property(
        secret,
        fc.string({ maxLength: 20 }),
        fc.string({ maxLength: 20 }),
        (value, before, after) => {
          const masked = maskText(`${before}${value}${after}`, [value]);
          assert.ok(!masked.includes(value), masked);
        },
      ),
      { numRuns: 300 },
    );
  });

  it('bytes without a secret are unchanged, including binary ones', () => {
    fc.assert(
      fc.property(
        fc.uint8Array({ maxLength: 200 }),
        fc.array(fc.nat(), { maxLength: 5 }),
        (bytes, borders) => {
          assert.deepEqual(
            maskInChunks(Buffer.from(bytes), borders, ['a secret of some length']),
            Buffer.from(bytes),
          );
        },
      ),
    );
  });

  it('secrets that overlap or touch are joined', () => {
    assert.equal(maskText('xabcdefx', ['abcd', 'cdef']), 'x***x');
    assert.equal(maskText('xabcdefghx', ['abcd', 'efgh']), 'x***x');
    assert.equal(maskText('xabcd-efghx', ['abcd', 'efgh']), 'x***-***x');
  });

  it('only the possible beginning of a secret is held back', () => {
    const masker = createMasker(['hunter2hunter2']);
    assert.equal(Buffer.from(masker.push(Buffer.from('a line\nhunter'))).toString(), 'a line\n');
    assert.equal(Buffer.from(masker.push(Buffer.from('s are out\n'))).toString(), 'hunters are out\n');
    assert.equal(Buffer.from(masker.end()).toString(), '');
  });

  it('values below four characters and blank values are not masked', () => {
    assert.equal(maskText('a b c   abc', ['', 'a', 'abc', '    ']), 'a b c   abc');
    assert.equal(patternsOf(['', 'abc', ' \n \n']).isEmpty, true);
  });
});

describe('the forms of a secret', () => {
  const secret = 'p"w\\d <é>\t&/+?${x} 100%{y}~\'*';
  const isMasked = (text: string, value = secret) =>
    maskText(`before ${text} after`, [value]) === 'before *** after';

  it('masking covers JSON, HCL and quoted commands', () => {
    const json = JSON.stringify(secret).slice(1, -1);
    assert.ok(isMasked(json));
    assert.ok(
      isMasked(json.replaceAll('<', '\\u003c').replaceAll('>', '\\u003e').replaceAll('&', '\\u0026')),
    );
    assert.ok(isMasked(json.replaceAll('é', '\\u00e9')));
    assert.ok(isMasked(JSON.stringify(json).slice(1, -1)));
    assert.ok(isMasked('p\\"w\\\\d <é>\\t&/+?$${x} 100%%{y}~\'*'));
    assert.ok(isMasked('esc\\x1bape\\u2028', 'esc\x1bape\u2028'));
  });

  it('masking covers single quotes of shells and other languages', () => {
    assert.ok(isMasked(secret.replaceAll("'", "'\\''")));
    assert.ok(isMasked(secret.replaceAll('\\', '\\\\').replaceAll('\t', '\\t').replaceAll("'", "\\'")));
  });

  it('masking covers the texts in a JSON document, which terraform prints separately', () => {
    const document = JSON.stringify({
      type: 'a',
      password: 'q"w hunter2',
      keys: ['-----BEGIN-----\nMIIEowIBAAKCAQEA7\n'],
    });
    const printed = '+ password = "q\\"w hunter2"\n+ <<-EOT\n    MIIEowIBAAKCAQEA7\n+ type = "a"';
    assert.equal(maskText(printed, [document]), '+ password = "***"\n+ <<-EOT\n    ***\n+ type = "a"');
    assert.ok(isMasked(document, document));
    assert.equal(maskText('+ password = q"w hunter2', ['"q\\"w hunter2"']), '+ password = ***');
  });

  it('covers URL encodings', () => {
    const encoded = encodeURIComponent(secret);
    assert.ok(isMasked(encoded));
    assert.ok(isMasked(encoded.replaceAll(/%../g, (code) => code.toLowerCase())));
    assert.ok(isMasked(encoded.replaceAll('%20', '+')));
    assert.ok(isMasked(new URLSearchParams({ a: secret }).toString().slice(2)));
  });

  it('masking covers what JSON, shells and URLs make of each character', () => {
    for (let code = 1; code < 0x180; code += 1) {
      const secret = `abcd${String.fromCharCode(code)}efgh`;
      const written = [
        secret,
        JSON.stringify(secret).slice(1, -1),
        secret.replaceAll("'", "'\\''"),
        encodeURIComponent(secret),
        new URLSearchParams([['', secret]]).toString().slice(1),
      ];
      for (const text of written) assert.equal(maskText(text, [secret]), '***', JSON.stringify(text));
    }
  });

  it('masking covers base64 at every offset, in both alphabets, with and without padding', () => {
    const value = 'ÿþý>>>???hunter2';
    for (const before of ['', 'u', 'us', 'use']) {
      for (const after of ['', 'x', 'xy', 'xyz']) {
        for (const encoding of ['base64', 'base64url'] as const) {
          const masked = maskText(Buffer.from(before + value + after).toString(encoding), [value]);
          assert.match(masked, /^[\w+/-]{0,4}\*\*\*[\w+/=-]{0,8}$/);
        }
      }
    }
    assert.equal(maskText(Buffer.from(value).toString('base64url'), [value]), '***');
  });

  it('masking covers hexadecimal in upper and lower case', () => {
    const value = 'sëcret-válue!';
    const text = Buffer.from(value).toString('hex');
    for (const form of [text, text.toUpperCase()])
      assert.equal(maskText(`before 00${form}ff after`, [value]), 'before 00***ff after');
  });

  it('masking covers folded base64 of a long value', () => {
    const value = Array.from({ length: 40 }, (_, index) => `key material ${index * 7919}`).join('');
    const folded = Buffer.from(value).toString('base64').replaceAll(/.{76}/g, '$&\n');
    assert.match(maskText(folded, [value]), /^(\*\*\*\n)+[\w+/]{0,3}=*$/);
  });

  it('masking covers each line of a multi-line value, however indented', () => {
    const value = '-----BEGIN KEY-----\nMIIEowIBAAKCAQEA7\nabc\n-----END KEY-----\n';
    const masked = maskText('  + <<-EOT\n      -----BEGIN KEY-----\r\n      MIIEowIBAAKCAQEA7\n      abc\n', [
      value,
    ]);
    assert.equal(masked, '  + <<-EOT\n      ***\r\n      ***\n      abc\n');
    assert.equal(maskText(value, [value]), '***');
    assert.equal(maskText(value.trim(), [value]), '***');
  });

  it('masking covers long values and long parts of them', () => {
    const value = Array.from({ length: 100_000 }, (_, index) =>
      String.fromCharCode(33 + ((index * index) % 90)),
    ).join('');
    assert.equal(maskText(`a ${value} b`, [value]), 'a *** b');
    assert.ok(maskText(value.slice(0, 5000), [value]).length < 1100);
    assert.ok(secretForms([value]).every((form) => form.length <= 1024));
  });
});

describe('masking values', () => {
  it('texts, keys and numbers of JSON are masked, and the rest is copied', () => {
    const value = { 'hunter2 key': ['say hunter2', 1, null, true], port: 54321, other: { n: 1.5 } };
    assert.deepEqual(maskJson(value, ['hunter2', '54321']), {
      '*** key': ['say ***', 1, null, true],
      port: '***',
      other: { n: 1.5 },
    });
  });

  it('a value without a secret is returned unchanged', () => {
    const value = { a: 1 };
    assert.equal(maskJson(value, []), value);
    assert.equal(maskText('lone \ud800 surrogate', ['secret']), 'lone \ud800 surrogate');
  });
});

it('what to search for is derived once for the same list, and for its copy of the next phase', () => {
  const secrets = ['one secret', 'another secret'];
  assert.equal(patternsOf(secrets), patternsOf(secrets));
  assert.equal(patternsOf(secrets), patternsOf([...secrets]));
  assert.equal(maskText('one secret, one line', secrets), '***, one line');
  for (const others of [
    [...secrets, 'a third secret'],
    ['one secret'],
    ['one secret', 'another secre'],
    [],
  ]) {
    assert.notEqual(patternsOf(secrets), patternsOf(others));
    const text = 'one secret, another secret, a third secret';
    const masked = others.reduce((rest, secret) => rest.replace(secret, '***'), text);
    assert.equal(maskText(text, [...others]), masked);
  }
});
