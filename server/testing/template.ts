/** Templates as tests need them. */
import type { TestApp } from './app.ts';
import { ok, type Reply } from './client.ts';

let count = 0;

/** The least that creates a template, with a name of its own, for the project of the test. */
export function templateBody(test: Pick<TestApp, 'organizationId' | 'projectId'>, more: object = {}) {
  const { organizationId, projectId } = test;
  return {
    organizationId,
    name: `template ${++count}`,
    type: 'terraform',
    repository: 'https://git.example.com/network.git',
    projectIds: [projectId],
    ...more,
  };
}

export type CreatedTemplate = Reply<'createTemplate'> & { readonly id: string };

export async function createTemplate(test: TestApp, more: object = {}): Promise<CreatedTemplate> {
  const template = await ok(test, 'createTemplate', { body: templateBody(test, more) });
  return { ...template, id: template.id ?? '' };
}

/** An environment from a template. @param deployRequest in addition to the template */
export function createFrom(
  test: TestApp,
  blueprintId: string,
  more: object = {},
  deployRequest: object = {},
): Promise<Reply<'createEnvironment'>> {
  return ok(test, 'createEnvironment', {
    body: {
      name: 'network',
      projectId: test.projectId,
      deployRequest: { blueprintId, ...deployRequest },
      ...more,
    },
  });
}
