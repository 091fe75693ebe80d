/**
 * The programs of Ansible, from PyPI. Versions 2.x are those of the package ansible-core; all others are those
 * of the community's package ansible, which brings a core and many collections.
 */
import { satisfies, validRange } from 'semver';
import type { ProgramFacts, PythonRelease } from './program.ts';
import { firstVersion } from './read-versions.ts';

/** Description of one file in an index; a folder of wheels has only its name. */
interface Wheel {
  readonly version: string;
  /** For example `>=3.11`. */
  readonly python: string;
  readonly isYanked: boolean;
}

const wheelName = /\bansible-(\d+\.\d+\.\d+)-py3-none-any\.whl\b/;

function wheelsIn(text: string): Wheel[] {
  return text.split(/(?=<a\s)|\n/i).flatMap((piece) => {
    const version = wheelName.exec(piece)?.[1];
    if (version === undefined) return [];
    const python = /\bdata-requires-python="([^"]*)"/i.exec(piece)?.[1] ?? '';
    return [
      {
        version,
        python: python.replaceAll('&gt;', '>').replaceAll('&lt;', '<'),
        isYanked: /\bdata-yanked\b/i.test(piece),
      },
    ];
  });
}

/** Whether a version of Python meets `>=3.11` and the like; what cannot be read is left to pip. */
function runsOn(python: string | undefined, required: string): boolean {
  const range = validRange(required.replaceAll(',', ' '));
  return python === undefined || range === null || satisfies(`${python}.0`, range);
}

const release: PythonRelease = {
  kind: 'python',
  word: 'ansible',
  label: 'Ansible',
  publisher: 'PyPI',
  programs: ['ansible-playbook', 'ansible-galaxy'],
  all: /^ansible(-(community|config|console|doc|galaxy|inventory|playbook|pull|test|vault))?$/,
  layout: 'a simple index like https://pypi.org/simple, or the absolute path of a folder of wheels',
  index: { host: 'https://pypi.org/simple', path: '/ansible/' },
  readIndex: (text, platform) => {
    const python = /python(\d+\.\d+)$/.exec(platform)?.[1];
    const fitting = wheelsIn(text).filter((one) => !one.isYanked && runsOn(python, one.python));
    return [...new Set(fitting.map(({ version }) => version))];
  },
  requirement: (version) => (version.startsWith('2.') ? `ansible-core==${version}` : `ansible==${version}`),
};

const common = {
  howToGet:
    "install it on the agent's machine, see https://docs.ansible.com/ansible/latest/installation_guide/",
  versionArguments: ['--version'],
  readVersion: firstVersion,
  release,
} as const;

export const ansible: ProgramFacts = {
  ...common,
  name: 'ansible-playbook',
  versionVariables: ['ENVARIUM_ANSIBLE_VERSION'],
};

/** Of the same release as `ansible`. */
export const ansibleGalaxy: ProgramFacts = { ...common, name: 'ansible-galaxy', versionVariables: [] };
