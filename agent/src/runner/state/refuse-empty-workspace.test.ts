import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { openAttempt } from '../../../testing/attempt.ts';
import { expectResult } from '../../../testing/outcomes.ts';
import { createSetup, withTerraform } from '../../../testing/runner-setup.ts';
import type { Command } from '../../drivers/interface/command.ts';
import type { StateCapability, StateFileCapability } from '../../drivers/interface/driver.ts';
import { requireProgram } from '../../processes/programs.ts';
import type { Configuration } from '../configuration/configuration.ts';
import { refuseEmptyWorkspace } from './code-backend.ts';

const own = 'envarium12ab34';

/**
 * Checks a backend before a first plan, with a tool that prints.
 * @param workspaces the numbers of their resources; null: the state is encrypted; undefined: it is not a state
 */
async function checkWorkspaces(
  t: TestContext,
  workspaces: Readonly<Record<string, number | null | undefined>>,
): Promise<void> {
  const printing = (text: string): Command => ({
    step: 'tf:workspace',
    label: 'print',
    program: 'printf',
    args: ['%s', text],
    captureTo: 'printed',
  });
  const file: Partial<StateFileCapability> = {
    otherWorkspaces: async () => ({
      backend: 's3',
      variable: 'ALLOW',
      list: printing(Object.keys(workspaces).join('\n')),
      names: (output) => String(output).split('\n'),
      pull: (name) => printing(JSON.stringify({ count: workspaces[name] })),
    }),
  };
  const read = (bytes: Uint8Array) => {
    const { count } = JSON.parse(String(bytes)) as { count?: number | null };
    if (count === undefined) throw new Error('is not a state');
    return { isEncrypted: count === null, resourceCount: count ?? 0 };
  };
  const attempt = openAttempt(
    t,
    { state: { file, read } as unknown as StateCapability },
    { workspaceName: own },
  );
  const configuration = {
    context: { configurationFolder: attempt.folders.tree, stateFolder: null },
    tool: { paths: { printf: requireProgram('printf') } },
    environment: {},
  } as unknown as Configuration;
  await refuseEmptyWorkspace(attempt, configuration);
}

test('workspaces of other environments cannot be the one that was meant, and default is checked first', async (t) => {
  const workspaces = { abc: 1, default: 1, [own]: 0, envariumabcdef: 1, 'envarium-eu': 1, production: 1 };
  await assert.rejects(
    checkWorkspaces(t, workspaces),
    /are not: default \(1 resource\), abc \(1 resource\), envarium-eu \(1 resource\), production \(1 resource\)\. /,
  );
});

test('a first plan continues if all other workspaces are empty, or its own one is not', async (t) => {
  await checkWorkspaces(t, { [own]: 0, envariumabcdef: 1 });
  await checkWorkspaces(t, { default: 0, [own]: 0 });
  await checkWorkspaces(t, { default: 1, [own]: 1 });
});

test('a first plan stops and lists the workspaces with resources, and those that could not be read', async (t) => {
  const workspaces = { default: 1, empty: 0, production: 12, sealed: null, torn: undefined };
  await assert.rejects(checkWorkspaces(t, workspaces), ({ message }: Error) => {
    assert.match(
      message,
      /^The workspace envarium12ab34 is empty, but other workspaces of the backend s3 are not: default \(1 resource\), production \(12 resources\), sealed \(could not be read\), torn \(could not be read\)\. /,
    );
    assert.match(
      message,
      /cannot be changed: .* delete this environment \(envarium environment delete\) and create it again with that name \(workspaceName, or --workspace\)/,
    );
    assert.match(message, /set the variable ALLOW to true/);
    return true;
  });
});

test('a first plan runs no additional command if the service stores the state', withTerraform, async (t) => {
  const setup = createSetup(t, { 'main.tf': 'resource "terraform_data" "it" {}\n' });
  const ran = await expectResult(
    'planned',
    setup.run(setup.job({ workspaceName: own, isWorkspaceNew: true })),
  );
  const labels = ran.events.flatMap((event) => (event.kind === 'process' ? [event.label] : []));
  assert.deepEqual(
    labels.filter((label) => label.startsWith('terraform ')),
    ['terraform version', 'terraform init', 'terraform plan', 'terraform show'],
  );
});
