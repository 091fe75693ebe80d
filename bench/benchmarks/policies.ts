/** Time that approval policies add to a deployment whose plan has 1,000 resources, once they are compiled. */
import { setTimeout as delay } from 'node:timers/promises';
import type { Context } from '../../server/src/framework/context.ts';
import { PolicyCheck } from '../../server/src/rules/approval-policies/evaluation/policy-engine.ts';
import {
  evaluatePolicy,
  policyDocuments,
} from '../../server/src/runs/deployments/policy-check/evaluate-policies.ts';
import { type Bench, type BenchResult, figure } from '../measure/figure.ts';
import { scratchFolder } from '../measure/service.ts';

const resources = 1000;
const several = 20;
/** Spare processes start in it, as between deployments. */
const pauseMilliseconds = 300;

/** As terraform shows resources of usual size. */
function planOf(count: number): unknown {
  const resource_changes = Array.from({ length: count }, (_, index) => ({
    address: `aws_instance.node[${index}]`,
    mode: 'managed',
    type: 'aws_instance',
    name: 'node',
    index,
    provider_name: 'registry.terraform.io/hashicorp/aws',
    change: {
      actions: ['create'],
      before: null,
      after: {
        ami: 'ami-0123456789abcdef0',
        instance_type: 't3.micro',
        tags: { Name: `node-${index}`, env: 'production', team: 'platform' },
        root_block_device: [{ encrypted: true, volume_size: 20, volume_type: 'gp3' }],
        ...Object.fromEntries(Array.from({ length: 20 }, (_each, at) => [`attribute_${at}`, `value ${at}`])),
      },
      after_unknown: { id: true, arn: true, root_block_device: [{ volume_id: true }] },
      before_sensitive: false,
      after_sensitive: { tags: {}, root_block_device: [{}] },
    },
  }));
  return { format_version: '1.2', terraform_version: '1.11.4', resource_changes };
}

/** Looks at every resource. @param index makes it another policy */
function policy(index: number): string {
  return `package envarium

deny contains sprintf("%s is not encrypted (${index})", [change.address]) if {
  some change in input.plan.resource_changes
  change.type == "aws_instance"
  some device in change.change.after.root_block_device
  not device.encrypted
}

allow contains "everything is encrypted" if count(deny) == 0
`;
}

export const policiesBench: Bench = async ({ isQuick }): Promise<BenchResult> => {
  const rounds = isQuick ? 5 : 40;
  await using folder = await scratchFolder();
  const stopping = new AbortController();
  const settings = {
    dataFolder: folder.path,
    policyMemoryMegabytes: 512,
    policyTimeLimitSeconds: 30,
    policyProcesses: several + 4,
    ...(process.env['ENVARIUM_OPA'] ? { opaProgram: process.env['ENVARIUM_OPA'] } : {}),
  };
  const context = { settings, stopping: stopping.signal, events: {} } as unknown as Context;
  const deploymentRequest = { type: 'deploy', triggerName: 'user', revision: '' };
  const input = { deploymentRequest, plan: planOf(resources) };
  const policies = Array.from({ length: several }, (_, index) => new Map([['policy.rego', policy(index)]]));
  const evaluate = async (count: number, isAlone = false): Promise<number> => {
    await delay(pauseMilliseconds);
    const start = performance.now();
    const document = policyDocuments(input)(undefined);
    await using check = new PolicyCheck(context, document.common, isAlone ? 1 : count);
    const results = await Promise.all(
      policies.slice(0, count).map((files) => evaluatePolicy(files, document, check)),
    );
    if (results.some(({ messages }) => messages.allow.length !== 1))
      throw new Error('A policy did not allow the plan');
    return performance.now() - start;
  };
  try {
    const compiled = await evaluate(several);
    await evaluate(several, true);
    const one: number[] = [];
    const all: number[] = [];
    const alone: number[] = [];
    for (let round = -2; round < rounds; round++) {
      const times = [await evaluate(1), await evaluate(several), await evaluate(several, true)] as const;
      if (round < 0) continue;
      one.push(times[0]);
      all.push(times[1]);
      alone.push(times[2]);
    }
    return {
      figures: [
        figure(`one policy about a plan of ${resources} resources`, 'ms', one),
        figure(`${several} policies about a plan of ${resources} resources`, 'ms', all),
        figure(`${several} policies, each in a process of its own`, 'ms', alone),
        figure(
          `${several} policies to each in a process of its own`,
          '×',
          all.map((time, round) => time / (alone[round] ?? time)),
        ),
        figure(`${several} policies the first time, with compiling them`, 'ms', [compiled]),
      ],
      settings: { rounds, resources, policies: several, 'plan, in bytes': JSON.stringify(input).length },
    };
  } finally {
    stopping.abort();
  }
};
