import { checkPolicy, planOf } from './judge.ts';

const one = (address: string, after: object, more: object = {}) => ({
  resources: [{ address, after: { ...after }, ...more }],
});
const gone = (address: string, before: object) => ({
  address,
  actions: ['delete'],
  after: null,
  before: { ...before },
});

checkPolicy('ebs-volumes-must-be-encrypted', [
  ['an encrypted volume is allowed', 'allow', one('aws_ebs_volume.v', { encrypted: true })],
  [
    'a volume that is not encrypted is refused',
    'deny',
    one('aws_ebs_volume.v', { encrypted: false }),
    /^aws_ebs_volume\.v: the volume is not encrypted; set encrypted = true/,
  ],
  [
    'a volume that does not say is refused',
    'deny',
    one('aws_ebs_volume.v', { size: 8 }, { unset: ['encrypted'] }),
  ],
  [
    'a volume whose encryption is known later waits for a person',
    'pending',
    one(
      'aws_ebs_volume.v',
      {},
      {
        refers: { encrypted: ['var.x'] },
      },
    ),
  ],
  ['a copy of a snapshot is judged', 'deny', one('aws_ebs_snapshot_copy.v', {})],
  [
    'an instance with encrypted volumes is allowed',
    'allow',
    one('aws_instance.i', {
      root_block_device: [{ encrypted: true }],
      ebs_block_device: [{ encrypted: true }],
    }),
  ],
  [
    'one of several volumes is refused',
    'deny',
    one('aws_instance.i', {
      root_block_device: [{ encrypted: true }],
      ebs_block_device: [{ encrypted: true }, { encrypted: false }],
    }),
    /ebs_block_device is not encrypted/,
  ],
  [
    'a root volume that the code does not mention is refused',
    'deny',
    one(
      'aws_instance.i',
      {},
      {
        unset: ['root_block_device'],
      },
    ),
    /add root_block_device/,
  ],
  [
    'a block that does not say is refused',
    'deny',
    one(
      'aws_instance.i',
      { root_block_device: [{ volume_size: 8 }] },
      {
        unknown: { root_block_device: [{ encrypted: true }] },
      },
    ),
  ],
  [
    'an instance from a launch template is allowed',
    'allow',
    one(
      'aws_instance.i',
      { launch_template: [{ id: 'lt-1' }] },
      {
        unset: ['root_block_device'],
      },
    ),
  ],
  [
    'a launch template says it with a text',
    'allow',
    one('aws_launch_template.t', {
      block_device_mappings: [{ ebs: [{ encrypted: 'true' }] }],
    }),
  ],
  [
    'a launch template without encryption is refused',
    'deny',
    one('aws_launch_template.t', {
      block_device_mappings: [{ ebs: [{ encrypted: 'true' }] }, { ebs: [{ volume_size: 8 }] }],
    }),
  ],
  [
    'a launch configuration is judged',
    'deny',
    one('aws_launch_configuration.c', { root_block_device: [{}] }),
  ],
  [
    'turning off encryption by default is refused',
    'deny',
    one('aws_ebs_encryption_by_default.d', { enabled: false }),
  ],
  [
    'an update that leaves a volume unencrypted is refused',
    'deny',
    one(
      'aws_ebs_volume.v',
      { encrypted: false },
      {
        actions: ['update'],
      },
    ),
  ],
  ['a delete is allowed', 'allow', { resources: [gone('aws_ebs_volume.v', { encrypted: false })] }],
]);

checkPolicy('efs-encryption-required', [
  ['an encrypted file system is allowed', 'allow', one('aws_efs_file_system.f', { encrypted: true })],
  [
    'a file system that is not is refused',
    'deny',
    one('module.a["x"].aws_efs_file_system.f', { encrypted: false }),
    /^module\.a\["x"\]\.aws_efs_file_system\.f: /,
  ],
  [
    'a file system that does not say is refused',
    'deny',
    one('aws_efs_file_system.f', {}, { unset: ['encrypted'] }),
  ],
  [
    'what is known later waits for a person',
    'pending',
    one(
      'aws_efs_file_system.f',
      {},
      {
        refers: { encrypted: ['local.x'] },
      },
    ),
  ],
  ['a delete is allowed', 'allow', { resources: [gone('aws_efs_file_system.f', { encrypted: false })] }],
]);

const database = (after: object, more: object = {}) => one('aws_db_instance.db', after, more);

checkPolicy('rds-instances-must-not-be-publicly-accessible', [
  ['a private database is allowed', 'allow', database({ publicly_accessible: false })],
  ['a database that does not say is private', 'allow', database({ engine: 'postgres' })],
  [
    'a public database is refused',
    'deny',
    database({ publicly_accessible: true }),
    /^aws_db_instance\.db: .* set publicly_accessible = false/,
  ],
  [
    'an update to public is refused',
    'deny',
    database({ publicly_accessible: true }, { actions: ['update'] }),
  ],
  [
    'an instance of a cluster is judged',
    'deny',
    one('aws_rds_cluster_instance.i', { publicly_accessible: true }),
  ],
  [
    'an instance of a cluster that does not say waits for a person',
    'pending',
    one('aws_rds_cluster_instance.i', {}, { unset: ['publicly_accessible'] }),
  ],
  [
    'what is known later waits for a person',
    'pending',
    database({}, { refers: { publicly_accessible: ['var.x'] } }),
  ],
]);

const unitOf = (resource: Parameters<typeof planOf>[0][number]) => planOf([resource]);
const unclearVolume = { address: 'aws_ebs_volume.v', after: {}, refers: { encrypted: ['var.x'] } };
const plainVolume = { address: 'aws_ebs_volume.v', after: {}, unset: ['encrypted'] };

/** Plans of several units, as agents send them. */
function unitsOf(units: Readonly<Record<string, Parameters<typeof planOf>[0][number]>>) {
  const plans = Object.entries(units).map(([unit, resource]) => [unit, unitOf(resource)] as const);
  const changes = plans.flatMap(([unit, plan]) =>
    (plan as { resource_changes: object[] }).resource_changes.map((change) => ({ ...change, unit })),
  );
  return { input: { plan: { resource_changes: changes, units: Object.fromEntries(plans) } } };
}

checkPolicy('ebs-volumes-must-be-encrypted', [
  [
    'each unit of Terragrunt is read with its own code',
    'pending',
    unitsOf({ network: { address: 'aws_vpc.v' }, app: unclearVolume }),
    /the plan does not tell/,
  ],
  ['a unit with a plain volume is refused', 'deny', unitsOf({ app: plainVolume, other: unclearVolume })],
]);
