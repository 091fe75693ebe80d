import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { JobVariable } from '#protocol/messages/job.ts';
import { innerSecrets } from './inner-secrets.ts';

const hcl = (value: string, others: Partial<JobVariable> = {}): JobVariable => ({
  ...{ name: 'a', value, isSensitive: true, format: 'HCL' },
  ...others,
});
const ofTool = (...terraform: JobVariable[]) => innerSecrets({ environment: [], terraform });
const text = (name: string, value: string): JobVariable => ({ name, value, isSensitive: true });

test('texts in sensitive HCL are secrets, and its keys are not', async () => {
  assert.deepEqual(
    await ofTool(
      hcl('{ password = "hunter2-secret", port = 5432, nothing = null }'),
      hcl('["first-secret", { inner = "second\\n$${secret}" },]'),
      hcl('"whole-secret"'),
      hcl('{ port = 5000 + 432, key = "secret-nearby" }'),
      hcl('<<-E\n  many lines\nE\n'),
    ),
    ['hunter2-secret', 'first-secret', 'second\n${secret}', 'whole-secret', 'secret-nearby', 'many lines\n'],
  );
});

test('short texts and values that are not sensitive add nothing', async () => {
  assert.deepEqual(
    await ofTool(
      hcl('["short"]'),
      hcl('["known-to-all"]', { isSensitive: false }),
      text('a', '["text-as-it-is",]'),
      hcl('42'),
    ),
    [],
  );
});

test('texts in quotes are secrets where the value cannot be read, and others are masked nevertheless', async () => {
  const tooDeep = `${'['.repeat(300)}"deep-secret"${']'.repeat(300)}`;
  assert.deepEqual(
    await ofTool(
      hcl('["first-text", "unfinished'),
      hcl('file("x")'),
      hcl(`"${'${'.repeat(200)}"`),
      hcl(tooDeep),
      hcl('["secret-after"]'),
    ),
    ['first-text', 'unfinished', 'deep-secret', 'secret-after'],
  );
});

test('lists and objects in environment variables of terraform count', async () => {
  const environment = [text('TF_VAR_list', '["list-secret",]'), text('OTHER', '["other-secret",]')];
  assert.deepEqual(await innerSecrets({ environment, terraform: [] }), ['list-secret']);
});
