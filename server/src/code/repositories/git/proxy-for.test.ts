import assert from 'node:assert/strict';
import { test } from 'node:test';
import { proxyFor } from './proxy-for.ts';

test('git gets the one proxy that carries the address, and no exceptions of its own', () => {
  const environment = {
    http_proxy: 'http://plain:3128',
    https_proxy: 'http://secure:3128',
    no_proxy: '.corp, wiki.example 10.0.0.0/8,2001:db8::/32,git.example:8443,localhost',
  };
  const found = (url: string) => proxyFor(new URL(url), environment);
  const secure = { https_proxy: 'http://secure:3128', HTTPS_PROXY: 'http://secure:3128' };
  for (const [url, expected] of [
    ['https://github.com/x.git', secure],
    ['http://github.com/x.git', { http_proxy: 'http://plain:3128' }],
    ['https://git.corp/x.git', {}],
    ['https://corp/x.git', {}],
    ['https://notcorp/x.git', secure],
    ['https://a.wiki.example/x.git', {}],
    ['https://WIKI.EXAMPLE./x.git', {}],
    ['https://10.1.2.3/x.git', {}],
    ['https://11.1.2.3/x.git', secure],
    ['https://[2001:db8::1]/x.git', {}],
    ['https://git.example:8443/x.git', {}],
    ['https://git.example/x.git', secure],
    ['https://localhost/x.git', {}],
  ] as const)
    assert.deepEqual(found(url), expected, url);
  assert.deepEqual(proxyFor(new URL('https://github.com/x.git'), { http_proxy: 'http://plain:3128' }), {});
});

test('an exception with a port is for that port, also where the address has the usual one of its scheme', () => {
  const environment = {
    http_proxy: 'http://plain:3128',
    https_proxy: 'http://secure:3128',
    no_proxy: 'git.example:443,plain.example:80,.corp:443,192.0.2.1:443,[2001:db8::1]:443,[2001:db8::2]',
  };
  for (const [url, isDirect] of [
    ['https://git.example/x.git', true],
    ['https://git.example:443/x.git', true],
    ['https://git.example:8443/x.git', false],
    ['http://git.example/x.git', false],
    ['http://git.example:443/x.git', true],
    ['http://plain.example/x.git', true],
    ['https://plain.example/x.git', false],
    ['https://a.corp/x.git', true],
    ['https://192.0.2.1/x.git', true],
    ['https://192.0.2.1:8443/x.git', false],
    ['https://[2001:db8::1]/x.git', true],
    ['https://[2001:db8::1]:8443/x.git', false],
    ['https://[2001:db8::2]:8443/x.git', true],
  ] as const)
    assert.equal(Object.keys(proxyFor(new URL(url), environment)).length === 0, isDirect, url);
});
