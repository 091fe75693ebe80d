import { ok } from '../client.ts';
import type { FieldEffects, MakeSample } from '../samples.ts';

const file = (name: string) => `server/src/automation/discovery/${name}.ts`;

export const effects: FieldEffects = {
  globPattern: file('read-folders'),
  rootPath: file('read-folders'),
  environmentPlacement: file('read-folders'),
  workspaceNaming: file('read-folders'),
  discoveryFileConfiguration: file('configuration'),
  repositoryRegex: file('read-files'),
  onRemoval: file('plan-folders'),
  removalLimitPercent: file('plan-folders'),
  folder: file('decide-folders'),
  isSame: file('decide-folders'),
};

export const sample: MakeSample = async (app) => {
  const body = { repository: '/srv/repositories/network', globPattern: '**/main.tf' };
  await ok(app, 'setDiscovery', { params: { projectId: app.projectId }, body });
  return { ids: {}, bodies: { setDiscovery: body, previewDiscovery: body } };
};
