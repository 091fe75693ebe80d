/** Projects whose environments are in discovery files, for tests. */
import { type GitFolder, gitFolder, type RepositoryFiles } from '../git-repository.ts';
import { startTests } from '../start.ts';

/** @returns the app of a test file, with projects of their own; the folder is removed by the caller */
export async function startDiscoveryFiles(): Promise<DiscoveryFileTests> {
  const folder = gitFolder();
  const tests = await startTests({ ENVARIUM_GIT_LOCAL_PATHS: folder.path });
  return { ...tests, ...projectsOf(tests, folder) };
}

type Tests = Awaited<ReturnType<typeof startTests>>;
type DiscoveryFileTests = Tests & ReturnType<typeof projectsOf>;

function projectsOf({ app, organizationId, ok, add }: Tests, folder: GitFolder) {
  let made = 0;
  /** A project `p1` with a template `t1`, whose repository `live-1` has a discovery file. */
  async function discovering(file: string, files: RepositoryFiles = {}, more: object = {}) {
    made += 1;
    const name = `live-${made}`;
    const repository = folder.repository(name, {
      'main.tf': 'variable "region" {}\n',
      ...files,
      'envarium-discovery.yml': file,
    });
    const { id: projectId } = await add('Project', `p${made}`);
    const template = await ok('createTemplate', {
      body: {
        ...{
          name: `t${made}`,
          type: 'opentofu',
          opentofuVersion: 'latest',
          repository: repository.path,
          organizationId,
        },
        projectIds: [projectId],
      },
    });
    const about = { params: { projectId } };
    const body = { discoveryFileConfiguration: { repositoryRegex: `.*/${name}` }, ...more };
    await ok('setDiscovery', { ...about, body });
    await app.carryOutEffects();
    const state = () => ok('getDiscoveryState', about);
    return {
      ...{ repository, projectId, template, about, body, state },
      scan: async () => {
        await ok('startDiscoveryScan', about);
        await app.carryOutEffects();
        return (await state()).lastScan;
      },
      write: (text: string) => repository.commit({ 'envarium-discovery.yml': text }),
      entry: async (key: string) => (await state()).folders.find((each) => each.folder === key),
      environments: () => ok('listEnvironments', { query: { organizationId, projectId } }),
      variables: async (environmentId: string) => {
        const rows = await ok('listVariables', { query: { organizationId, environmentId } });
        return Object.fromEntries(
          rows.filter(({ scope }) => scope === 'ENVIRONMENT').map(({ name, value }) => [name, value]),
        );
      },
    };
  }
  return {
    folder,
    discovering,
    /** Number of the project, the template and the repository that come next. */
    next: () => made + 1,
    /** Text of a file with one entry for the next project. */
    oneEntry: (key: string, more = '') =>
      `environments:\n  ${key}:\n    name: ${key}\n    templateName: t${made + 1}\n    projectName: p${made + 1}\n${more}`,
  };
}
