/** Facts of Ansible. */
import { ansibleVariableProblem, extraNameProblem } from './ansible-variables.ts';
import { ansibleGalaxy, ansible as program } from './programs/ansible.ts';
import type { ToolFacts } from './tool.ts';

export const ansible: ToolFacts = {
  type: 'ansible',
  label: 'Ansible',
  program,
  companions: [{ program: ansibleGalaxy, isOptional: false }],
  version: { field: 'ansibleVersion', file: null },
  steps: {
    prepare: ['ansible:galaxy'],
    plan: 'ansible:check',
    apply: 'ansible:playbook',
    destroy: 'ansible:destroy',
    outputs: null,
  },
  state: null,
  approval: {
    isExact: false,
    covers:
      'the commit, the variables, the version of Ansible and the installed roles and collections; the apply looks at the hosts again',
  },
  importsResources: false,
  planArguments: () => [],
  variableRefusal: (type, name, value) =>
    type === 0 ? ansibleVariableProblem(name, value) : extraNameProblem(name),
  downloads: [],
};
