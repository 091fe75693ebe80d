/** One entry of the audit trail, with what it changed. */
import { Detail } from '../../records/Detail.tsx';
import { Part } from '../../records/Part.tsx';
import { nameOfUser } from '../../records/person.tsx';
import { Facts } from '../../ui/Facts.tsx';
import classes from './audit.module.css';
import { changesOf, type FieldChange, isFingerprint } from './audit-changes.ts';
import type { ListedAuditEvent } from './audit-query.ts';

const exact = new Intl.DateTimeFormat(undefined, { dateStyle: 'full', timeStyle: 'long' });

function Value({ text, sign }: { readonly text: string | undefined; readonly sign: '−' | '+' }) {
  if (text === undefined) return null;
  return (
    <div className={classes.value} data-sign={sign}>
      <span aria-hidden="true">{sign}</span>
      <span className="visually-hidden">{sign === '+' ? 'After: ' : 'Before: '}</span>
      <code>{text}</code>
      {isFingerprint(text) && <span className={classes.note}>fingerprint of a secret</span>}
    </div>
  );
}

function Changes({ changes }: { readonly changes: readonly FieldChange[] }) {
  return (
    <dl className={classes.changes}>
      {changes.map(({ field, before, after }) => (
        <div key={field}>
          <dt>{field}</dt>
          <dd>
            <Value text={before} sign="−" />
            <Value text={after} sign="+" />
          </dd>
        </div>
      ))}
    </dl>
  );
}

function Payload({ payload }: { readonly payload: ListedAuditEvent['payload'] }) {
  if (Object.keys(payload).length === 0) return null;
  return (
    <Part title="Details">
      <pre className={classes.json} tabIndex={0}>
        {JSON.stringify(payload, null, 2)}
      </pre>
    </Part>
  );
}

export function AuditEntry({
  entry,
  onClose,
}: {
  readonly entry: ListedAuditEvent;
  readonly onClose: () => void;
}) {
  const { actor, actorId, timestamp, entity, entityId, link } = entry;
  const changes = changesOf(entry.before, entry.after);
  const code = (text: string | undefined) => text && <code>{text}</code>;
  return (
    <Detail title={entry.actionName} onClose={onClose}>
      <Facts
        facts={[
          ['When', exact.format(new Date(timestamp))],
          ['Who', <bdi key="who">{nameOfUser(actor)}</bdi>],
          ['Id of the actor', code(actorId)],
          ['Target', entity],
          ['Id', code(entityId)],
          ['Project', code(entry.projectId)],
          ['From', code(entry.ipAddress)],
          ['With the key', code(entry.keyId)],
          ['Request', code(entry.requestId)],
        ]}
      />
      {changes.length > 0 && (
        <Part title="What was changed">
          <Changes changes={changes} />
        </Part>
      )}
      <Payload payload={entry.payload} />
      <Part title="Link in the chain" lead={`Entry ${link.number}. Each hash contains the one before it.`}>
        <Facts
          facts={[
            ['Hash', code(link.hash)],
            ['Hash before', code(link.previousHash)],
            ['Hash of the content', code(link.contentHash)],
          ]}
        />
      </Part>
    </Detail>
  );
}
