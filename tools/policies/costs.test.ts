import { checkPolicy } from './judge.ts';

const estimate = (costEstimation: object | undefined, more: object = {}) => ({
  policyConfiguration: { maxCostIncrease: 100, ...more },
  input: costEstimation ? { costEstimation } : {},
});

checkPolicy('monthly-cost-estimation', [
  [
    'an increase below the maximum is allowed',
    'allow',
    estimate({ totalMonthlyCost: 900, monthlyCostDiff: 99.5 }),
  ],
  [
    'an increase above it waits for a person',
    'pending',
    estimate({ totalMonthlyCost: 900, monthlyCostDiff: 120.456 }),
    /costs 120\.46 more each month, and 100 is the maximum/,
  ],
  ['a person may approve it', 'allow', { ...estimate({ monthlyCostDiff: 120 }), approvers: 1 }],
  [
    'it can be refused instead',
    'deny',
    { ...estimate({ monthlyCostDiff: 120 }, { onExceed: 'deny' }), approvers: 1 },
  ],
  ['all costs of a new environment count', 'pending', estimate({ totalMonthlyCost: 900 })],
  ['a reduction is allowed', 'allow', estimate({ totalMonthlyCost: 900, monthlyCostDiff: -50 })],
  ['without an estimate a person decides', 'pending', estimate(undefined), /no estimate/],
  [
    'a destroy needs no estimate',
    'allow',
    {
      policyConfiguration: { maxCostIncrease: 1 },
      input: { deploymentRequest: { type: 'destroy' } },
    },
  ],
  [
    'a policy without a maximum refuses, and says so',
    'deny',
    { input: { costEstimation: { monthlyCostDiff: 0 } } },
    /lacks maxCostIncrease/,
  ],
]);

const machine = (address: string, after: object, more: object = {}) => ({
  resources: [{ address, after: { ...after }, ...more }],
});

checkPolicy('restrict-creation-of-expensive-instance-types', [
  ['a small machine is allowed', 'allow', machine('aws_instance.i', { instance_type: 't3.micro' })],
  [
    'a large machine is refused',
    'deny',
    machine('aws_instance.i', { instance_type: 'm5.24xlarge' }),
    /^aws_instance\.i: type "m5\.24xlarge" is too expensive; choose a smaller one/,
  ],
  ['a double machine is allowed', 'allow', machine('aws_instance.i', { instance_type: 'm5.2xlarge' })],
  ['bare metal is refused', 'deny', machine('aws_instance.i', { instance_type: 'c5.metal' })],
  ['an accelerator is refused', 'deny', machine('aws_launch_template.t', { instance_type: 'p4d.xlarge' })],
  ['a database is judged', 'deny', machine('aws_db_instance.d', { instance_class: 'db.r5.12xlarge' })],
  ['a small database is allowed', 'allow', machine('aws_db_instance.d', { instance_class: 'db.t4g.micro' })],
  [
    'types of a node group are judged',
    'deny',
    machine('aws_eks_node_group.g', { instance_types: ['t3.small', 'm5.8xlarge'] }),
  ],
  [
    'overrides of a group are judged',
    'deny',
    machine('module.a.aws_autoscaling_group.g', {
      mixed_instances_policy: [{ launch_template: [{ override: [{ instance_type: 'x1.32xlarge' }] }] }],
    }),
  ],
  [
    'resizing is judged',
    'deny',
    machine('aws_instance.i', { instance_type: 'm5.24xlarge' }, { actions: ['update'] }),
  ],
  [
    'a machine of Google is judged',
    'deny',
    machine('google_compute_instance.i', { machine_type: 'n2-standard-64' }),
  ],
  [
    'a small machine of Google is allowed',
    'allow',
    machine('google_compute_instance.i', { machine_type: 'e2-medium' }),
  ],
  [
    'a machine of Azure is judged',
    'deny',
    machine('azurerm_linux_virtual_machine.i', { size: 'Standard_D64s_v5' }),
  ],
  [
    'a small machine of Azure is allowed',
    'allow',
    machine('azurerm_linux_virtual_machine.i', { size: 'Standard_D2s_v5' }),
  ],
  [
    'nodes of Azure are judged',
    'deny',
    machine('azurerm_kubernetes_cluster.k', {
      default_node_pool: [{ vm_size: 'Standard_NC24ads_A100_v4' }],
    }),
  ],
  [
    'only named types can be allowed',
    'deny',
    {
      policyConfiguration: { allowedTypes: ['t3.{micro,small}'] },
      ...machine('aws_instance.i', { instance_type: 't3.large' }),
    },
    /use one of "t3\.\{micro,small\}"/,
  ],
  [
    'a named type is allowed',
    'allow',
    {
      policyConfiguration: { allowedTypes: ['t3.{micro,small}'] },
      ...machine('aws_instance.i', { instance_type: 't3.small' }),
    },
  ],
  [
    'forbidden types can be configured',
    'deny',
    {
      policyConfiguration: { forbiddenTypes: ['t3.*'] },
      ...machine('aws_instance.i', { instance_type: 't3.small' }),
    },
  ],
  [
    'a choice that is left to AWS waits for a person',
    'pending',
    machine('aws_launch_template.t', {
      instance_requirements: [{ memory_mib: [{ min: 1 }] }],
    }),
  ],
  [
    'a type that is known later waits for a person',
    'pending',
    machine(
      'aws_instance.i',
      {},
      {
        refers: { instance_type: ['var.x'] },
      },
    ),
  ],
  ['a delete is allowed', 'allow', machine('aws_instance.i', {}, { actions: ['delete'], after: null })],
]);
