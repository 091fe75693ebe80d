/** Plans and applies the example with the real runner, against a server that answers as AWS does. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { stackStage, withOwnProgram } from '../../testing/cloudformation/stage.ts';

const template = readFileSync(
  join(import.meta.dirname, '../../../../examples/cloudformation/template.yaml'),
  'utf8',
);
const files = { 'template.yaml': template };
const secret = 'planted-no-echo-value';

for (const travels of [false, true])
  test(
    `a deployment plans and applies, ${travels ? 'elsewhere' : 'on the kept tree'}`,
    withOwnProgram,
    async (t) => {
      const { aws, job, run, apply } = await stackStage(t, files);
      const planned = await run(job({}, { parameters: { Stage: 'one', Token: secret } }));
      assert.equal(planned.outcome.result, 'planned', JSON.stringify(planned.outcome));
      assert.deepEqual(planned.outcome.planSummary, { added: 3, changed: 0, destroyed: 0 });
      assert.equal(planned.outcome.toolVersion, '1.0.0');
      assert.equal(aws.account.cloud.resources.size, 0);
      const applied = await apply(planned, { travels });
      assert.equal(applied.outcome.result, 'applied', JSON.stringify(applied.outcome));
      assert.deepEqual(applied.outcome.outputs?.['OrdersName'], {
        value: 'test-one-one-orders',
        sensitive: false,
        type: 'string',
      });
      assert.equal(applied.outcome.resourceCount, 3);
      assert.deepEqual(applied.steps(), {
        'apply:prepare': 'SUCCESS',
        'cf:deploy': 'SUCCESS',
        'cf:output': 'SUCCESS',
      });
      const events = applied.events.filter((event) => event.kind === 'resource');
      assert.deepEqual(
        events
          .filter(({ status }) => status === 'done')
          .map(({ address, action, type }) => [address, action, type]),
        [
          ['Failed', 'create', 'AWS::SQS::Queue'],
          ['Orders', 'create', 'AWS::SQS::Queue'],
          ['Topic', 'create', 'AWS::SNS::Topic'],
        ],
      );
      assert.equal(aws.account.stack('test-one').status, 'CREATE_COMPLETE');
    },
  );
