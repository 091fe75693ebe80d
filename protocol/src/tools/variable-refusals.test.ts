import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { tools } from './index.ts';
import { variableRefusal, workspaceNameRefusal } from './variable-refusals.ts';

describe('environment variables that no run can take', () => {
  const refused: [name: string, value: string][] = [
    ['TF_WORKSPACE', 'x'],
    ['TF_DATA_DIR', 'x'],
    ['LD_PRELOAD', 'x'],
    ['GLIBC_TUNABLES', 'x'],
    ['', 'x'],
    ['A=B', 'x'],
    ['A', 'a\0b'],
    ['A', 'x'.repeat(131_072)],
    ['TF_CLI_ARGS', '-state=x'],
    ['TF_CLI_ARGS_apply', '-lock=false --state-out x'],
    ['TF_CLI_ARGS_plan', "-st'at'e=x"],
    ['TF_CLI_ARGS_plan', '-out=x'],
    ['TF_CLI_ARGS_apply', '-back\\up=x'],
    ['TF_CLI_ARGS_plan', '"-state" x'],
    ['TF_CLI_ARGS_apply', '-state-out=elsewhere'],
    ['TF_CLI_ARGS_state_pull', '-state=x'],
    ['TF_CLI_ARGS_init', '-backend=false'],
    ['TF_CLI_ARGS_plan', '-destroy'],
    ['TF_CLI_ARGS_apply', '-json'],
    ['TF_CLI_ARGS', "-lock=false '"],
    ['TF_STATE_PERSIST_INTERVAL', '5'],
    ['TF_STATE_PERSIST_INTERVAL', 'soon'],
    ['ENVARIUM_RESOLVE_FILE_VERSION_RECURSIVELY', '1'],
  ];
  for (const [name, value] of refused) {
    it(`${JSON.stringify(name)} with ${value.slice(0, 30)}`, () => {
      const text = variableRefusal(0, name, value);
      assert.ok(text?.startsWith(name === '' || name.includes('=') ? 'name' : name), String(text));
    });
  }

  it('are reported without their value', () => {
    assert.ok(!variableRefusal(0, 'TF_CLI_ARGS', '-state=hunter2')?.includes('hunter2'));
  });
});

it('a variable is refused for the tools that refuse it, and for all while the tool is not known', () => {
  const carefree = { ...tools.terraform, variableRefusal: () => null };
  assert.equal(variableRefusal(0, 'TF_WORKSPACE', 'x', [carefree]), null);
  assert.match(variableRefusal(0, 'TF_WORKSPACE', 'x', [carefree, tools.terraform])!, /^TF_WORKSPACE/);
  assert.match(variableRefusal(0, 'LD_PRELOAD', 'x', [carefree])!, /^LD_PRELOAD/);
});

it('a name that any tool accepts for its own variables can be written', () => {
  const dotted = { ...tools.terraform, variableRefusal: () => null };
  assert.equal(variableRefusal(1, 'image.tag', 'x', [tools.terraform, dotted]), null);
  assert.match(variableRefusal(1, 'image.tag', 'x', [tools.terraform])!, /^"image\.tag"/);
});

it('other variables may be whatever they are', () => {
  for (const [name, value] of [
    ['TF_CLI_ARGS_plan', '-parallelism=3 -var=state=x -statement'],
    ['TF_LOG', 'trace'],
    ['TF_STATE_PERSIST_INTERVAL', '60'],
    ['TF_CLI_ARGS_init', '-upgrade -backend-config=key=x'],
    ['TF_VAR_state', '-state=x'],
    ['PATH', '/bin'],
    ['NODE_OPTIONS', ''],
    ['LDAP', 'x'],
  ] as const) {
    assert.equal(variableRefusal(0, name, value), null, name);
  }
});

it('terraform variables need a name that terraform takes', () => {
  const family = [tools.terraform, tools.opentofu];
  for (const name of ['a', '_a', 'été', 'a-b', 'a1'])
    assert.equal(variableRefusal(1, name, '\0'), null, name);
  for (const name of ['', '-a', '1a', 'a b', 'a.b', 'a"'])
    assert.match(variableRefusal(1, name, 'x', family)!, /is not a Terraform identifier/, name);
});

it('a workspace name is one that terraform takes and that is a folder', () => {
  for (const name of ['default', 'network-abc123', 'a.b_c~$&+:=@'])
    assert.equal(workspaceNameRefusal(name), null, name);
  for (const name of ['', '.', '..', 'a/b', 'a b', 'é', 'a\n', 'x'.repeat(201)])
    assert.match(workspaceNameRefusal(name)!, /^workspaceName: /, name);
});
