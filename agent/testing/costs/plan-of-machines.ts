/** For tests: a plan of resources that cost something, on a machine that has no provider of a cloud. */
import { chmodSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const provider = 'registry.terraform.io/hashicorp/aws';

function instance(name: string, values: object) {
  const address = `aws_instance.${name}`;
  return {
    address,
    mode: 'managed',
    type: 'aws_instance',
    name,
    provider_name: provider,
    schema_version: 1,
    values,
  };
}

/** Terraform's form of a plan that makes one machine larger: no provider of a cloud is on this machine. */
export const planOfMachines = {
  format_version: '1.2',
  terraform_version: '1.11.4',
  planned_values: {
    root_module: {
      resources: [
        instance('web', {
          instance_type: 'm5.large',
          user_data: 'planted-user-data',
          tags: { owner: 'planted-tag' },
          root_block_device: [{ volume_size: 50, volume_type: 'gp3' }],
        }),
        instance('worker-s3cret', { instance_type: 't3.micro' }),
      ],
    },
  },
  resource_changes: [],
  prior_state: {
    format_version: '1.0',
    terraform_version: '1.11.4',
    values: { root_module: { resources: [instance('web', { id: 'i-1', instance_type: 't3.micro' })] } },
  },
  configuration: {
    provider_config: {
      aws: { name: 'aws', full_name: provider, expressions: { region: { constant_value: 'eu-west-1' } } },
    },
    root_module: {
      resources: ['web', 'worker-s3cret'].map((name) => ({
        address: `aws_instance.${name}`,
        mode: 'managed',
        type: 'aws_instance',
        name,
        provider_config_key: 'aws',
        expressions: {},
      })),
    },
  },
};

/**
 * A program that is the real terraform, but for what it shows of a plan.
 * @param folder that runs can read
 * @returns its path
 */
export function terraformThatShows(
  folder: string,
  terraform: string,
  shown: object = planOfMachines,
): string {
  const file = join(folder, 'terraform');
  const text = `#!/bin/sh
if [ "$1" = show ] && [ "$2" = -json ]; then
cat <<'SHOWN'
${JSON.stringify(shown)}
SHOWN
exit 0
fi
exec ${terraform} "$@"
`;
  writeFileSync(file, text);
  chmodSync(file, 0o755);
  return file;
}
