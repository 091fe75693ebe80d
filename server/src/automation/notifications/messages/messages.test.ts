import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { UserRow } from '../../../rows/users/user-store.ts';
import { mailboxesFor, mailText } from './mail.ts';
import { slackMessage } from './slack.ts';
import { teamsMessage } from './teams.ts';
import { type Words, wordsOf } from './words.ts';

const hostile = '<!channel> *bold* [click](https://evil.example.com) <https://evil.example.com|here> & co';
const words: Words = {
  title: `Deploy failed: ${hostile}`,
  facts: [['Environment', hostile]],
  error: hostile,
  link: 'https://envarium.example.com/deployments/1',
};

test('Slack gets names as plain text, and its summary escaped', () => {
  const { blocks, text } = slackMessage(words);
  assert.equal(
    text,
    'Deploy failed: &lt;!channel&gt; *bold* [click](https://evil.example.com) &lt;https://evil.example.com|here&gt; &amp; co',
  );
  assert.doesNotMatch(text, /[<>]/);
  const types = [...JSON.stringify(blocks).matchAll(/"type":"(\w+)"/g)].map(([, type]) => type);
  assert.ok(!types.includes('mrkdwn'));
  assert.deepEqual(blocks[0], {
    type: 'header',
    text: { type: 'plain_text', text: words.title.slice(0, 150), emoji: false },
  });
});

test('Teams gets names as runs of text, which have no markup', () => {
  const [card] = teamsMessage(words).attachments;
  assert.ok(card);
  const types = new Set(card.content.body.map(({ type }) => type));
  assert.deepEqual(types, new Set(['RichTextBlock']));
  assert.deepEqual(card.content.actions, [{ type: 'Action.OpenUrl', title: 'Open', url: words.link }]);
});

test('a name stays on one line of a subject, and a long one is cut', () => {
  const environment = { name: `a\r\nBcc: x@example.com\u2028${'y'.repeat(500)}` };
  const facts = { environment, deployment: null, lifetime: null };
  const made = wordsOf({ event: 'deployFailed', facts, organization: null } as never);
  const { subject } = mailText(made);
  assert.ok(subject.length <= 200);
  assert.doesNotMatch(subject, /[\r\n\u2028]/);
});

test('a message has the counts of the plan in the words of all pages', () => {
  const planSummary = {
    added: 3,
    changed: 0,
    destroyed: 2,
    replaced: 2,
    imported: 1,
    moved: 4,
    forgotten: 1,
  };
  const changes = (deployment: object) => {
    const facts = { environment: { name: 'web' }, deployment, lifetime: null };
    const { facts: named } = wordsOf({ event: 'deploySucceeded', facts, organization: null } as never);
    return named.find(([name]) => name === 'Changes')?.[1];
  };
  const plan = { type: 'deploy', status: 'WAITING_FOR_USER', hasChanges: true, planSummary };
  const toDo = '2 to replace, 1 to forget, 1 to add, 1 to import, 4 to move';
  assert.equal(changes(plan), toDo);
  assert.equal(changes({ ...plan, type: 'driftDetection', status: 'SUCCESS' }), toDo);
  assert.equal(
    changes({ ...plan, status: 'SUCCESS' }),
    '2 replaced, 1 forgotten, 1 added, 1 imported, 4 moved',
  );
  const none = { added: 0, changed: 0, destroyed: 0 };
  assert.equal(changes({ ...plan, planSummary: none }), 'no resource changes');
  assert.equal(changes({ ...plan, planSummary: none, hasChanges: false }), 'no changes');
  assert.equal(changes({ ...plan, planSummary: null }), undefined);
});

test('a message about environment discovery names project, repository and reason', () => {
  const discovery = { repository: 'https://git.example.com/live.git', reason: '2 folders failed' };
  const facts = { environment: null, deployment: null, lifetime: null, discovery };
  const project = { name: 'Shop' };
  const {
    title,
    facts: named,
    error,
  } = wordsOf({
    ...{ event: 'environmentDiscoveryFailed', facts, organization: null, project },
  } as never);
  assert.equal(title, 'Environment discovery failed: Shop');
  assert.deepEqual(named, [
    ['Project', 'Shop'],
    ['Repository', discovery.repository],
  ]);
  assert.equal(error, discovery.reason);
});

const user = (more: Partial<UserRow>) => ({ is_api_key: false, email: '', ...more }) as UserRow;

test('placeholders stand for the people of an event; those without a mailbox are left out', () => {
  const value = 'team@example.com, $ENVIRONMENT_CREATOR$,$DEPLOYER$, team@example.com';
  const creator = user({ email: 'ada@example.com' });
  const key = user({ email: 'key@localhost', is_api_key: true });
  assert.deepEqual(mailboxesFor(value, { creator, deployer: key }), ['team@example.com', 'ada@example.com']);
  assert.deepEqual(mailboxesFor('$DEPLOYER$', { creator: null, deployer: null }), []);
  // As another organization's directory may have it.
  for (const email of [
    'a@example.com, b@example.com',
    'a@example.com\r\nBcc: b@example.com',
    '<a@example.com>',
  ])
    assert.deepEqual(mailboxesFor('$DEPLOYER$', { creator: null, deployer: user({ email }) }), [], email);
});
