import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readOperatorConfiguration, secretsOf, writeRunConfiguration } from './cli-configuration.ts';

const whole = `
disable_checkpoint = true
credentials "app.example" {
  token = "abc.def"
}
credentials_helper "store" {
  args = ["a"]
}
host "registry.example" {
  services = { "providers.v1" = "http://127.0.0.1:1/x/" }
}
provider_installation {
  direct {
    exclude = ["acme/*"]
  }
  filesystem_mirror {
    path = "/mirror"
  }
}
`;

test("an operator's configuration is combined with the agent's own parts", async () => {
  const operator = await readOperatorConfiguration(whole);
  assert.deepEqual(secretsOf(operator), ['abc.def']);
  assert.deepEqual(operator.installation, [
    { kind: 'filesystem_mirror', attributes: { path: '/mirror' } },
    { kind: 'direct', attributes: { exclude: ['acme/*'] } },
  ]);
  const text = writeRunConfiguration({
    operator,
    hosts: { 'registry.example': { 'providers.v1': 'http://127.0.0.1:2/' } },
    tokens: { 'app.example': 'of the organization' },
    installation: operator.installation ?? [],
  });
  const again = await readOperatorConfiguration(text);
  assert.deepEqual(again, {
    ...operator,
    hosts: { 'registry.example': { 'providers.v1': 'http://127.0.0.1:2/' } },
    credentials: { 'app.example': { token: 'of the organization' } },
  });
});

for (const [text, message] of [
  ['credentials "a.example" { token = "hidden', /cannot be read: .*1,/],
  ['colour = "red"', /^colour is not part of a CLI configuration$/],
  ['plugin_cache_dir = "/x"', /^plugin_cache_dir: the agent has its own cache/],
  ['provider_installation {\n  dev_overrides {\n  }\n}', /dev_overrides/],
  ['provider_installation {\n  magic {\n  }\n}', /magic is not an installation method/],
  ['provider_installation {\n}\nprovider_installation {\n}', /more than once/],
  ['credentials "a.example" {\n  token = "${file}"\n}', /credentials a\.example: token must be a constant/],
] as const) {
  test(`a configuration that cannot be used is refused without repeating its values: ${message.source}`, async () => {
    await assert.rejects(readOperatorConfiguration(text), (error: Error) => {
      assert.match(error.message, message);
      assert.doesNotMatch(error.message, /hidden/);
      return true;
    });
  });
}
