import type { Material } from '../../../../testing/driver-material.ts';

/** Recorded with terragrunt 1.1.3 and OpenTofu 1.12.6: three units, of which `app` needs outputs of `vpc`. */
const module = 'variable "input" {}\nresource "terraform_data" "it" {}\n';
const app = `dependency "vpc" {
  config_path  = "../vpc"
  mock_outputs = { input = "mock" }
}
inputs = { input = "app on \${dependency.vpc.outputs.input}" }
`;

function recorded(scenario: string, ...more: readonly string[]): Record<string, string> {
  const plans = [0, 1, 2].map((index) => [`plan-${index}.json`, `1.1.3.${scenario}.plan-${index}.json`]);
  const rest = more.map((name) => [name.replace(/\.txt$/, ''), `1.1.3.${scenario}.${name}`]);
  return Object.fromEntries([...plans, ...rest]) as Record<string, string>;
}

export const material: Material = {
  tree: {
    'vpc/terragrunt.hcl': 'inputs = { input = "net" }\n',
    'vpc/main.tf': module,
    'app/terragrunt.hcl': app,
    'app/main.tf': module,
    'db/terragrunt.hcl': '',
    'db/main.tf': module,
  },
  job: { settings: { isTerragruntRunAll: true } },
  inspected: { 'units.json': '1.1.3.units.json', 'elsewhere.json': '1.1.3.elsewhere.json' },
  plans: {
    'a first deployment, in which one unit waits for outputs': {
      files: recorded('create', 'output-lines.txt'),
      summary: { added: 2, changed: 0, destroyed: 0, deferred: 1 },
      changes: {
        'app/terraform_data.it': 'create',
        'db/terraform_data.it': 'create',
        'vpc/terraform_data.it': 'create',
      },
      hasChanges: true,
    },
    'a change of a unit': {
      files: recorded('change'),
      summary: { added: 0, changed: 1, destroyed: 0 },
      changes: { 'vpc/terraform_data.it': 'update' },
      hasChanges: true,
    },
    'no change': {
      files: recorded('nothing'),
      summary: { added: 0, changed: 0, destroyed: 0 },
      changes: {},
      hasChanges: false,
    },
    'a drift run that finds nothing': {
      files: recorded('nothing', 'refresh-0.json', 'refresh-1.json', 'refresh-2.json'),
      summary: { added: 0, changed: 0, destroyed: 0 },
      changes: {},
      hasChanges: false,
    },
    'a destroy': {
      job: { type: 'destroy' },
      files: recorded('destroy'),
      summary: { added: 0, changed: 0, destroyed: 3 },
      changes: {
        'app/terraform_data.it': 'delete',
        'db/terraform_data.it': 'delete',
        'vpc/terraform_data.it': 'delete',
      },
      hasChanges: true,
    },
  },
  state: {
    file: '1.1.3.units.tfstate',
    resourceCount: 3,
    outputs: {
      'app.id': false,
      'app.input': true,
      'db.id': false,
      'db.input': true,
      'vpc.id': false,
      'vpc.input': true,
    },
  },
};
