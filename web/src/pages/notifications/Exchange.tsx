/** Request to an endpoint and its response: texts of third parties, shown unchanged. */
import { parseExactly } from '#contract/schema/exact-json.ts';
import type { Reply } from '../../api/queries.ts';
import { Facts } from '../../ui/Facts.tsx';
import classes from './notifications.module.css';

type EndpointTestReply = Reply<'testNotificationEndpoint'>;

/** JSON with line breaks; anything else unchanged. */
function readable(body: string): string {
  try {
    return JSON.stringify(parseExactly(body), null, 2);
  } catch {
    return body;
  }
}

/** The body of a message or an answer. */
function Body({ label, text }: { readonly label: string; readonly text: string }) {
  if (text === '') return null;
  return (
    <pre className={classes.body} tabIndex={0} aria-label={label}>
      {readable(text)}
    </pre>
  );
}

export function SentMessage({ request }: { readonly request: NonNullable<EndpointTestReply['request']> }) {
  return (
    <>
      <Facts
        facts={[
          ['Sent to', <code key="to">{request.address}</code>],
          ['By', request.method],
          ...Object.entries(request.headers).map(
            ([name, value]) => [name, <code key={name}>{value}</code>] as const,
          ),
        ]}
      />
      <Body label="What was sent" text={request.body} />
    </>
  );
}

/** Of those that say more than the message. */
const errorWords: Readonly<Record<NonNullable<EndpointTestReply['error']>['type'], string | undefined>> = {
  timeout: 'Timeout',
  'ssl-error': 'TLS',
  unknown: undefined,
};

export interface AnswerProps {
  readonly response: EndpointTestReply['response'];
  readonly error: EndpointTestReply['error'];
  readonly durationMilliseconds: number;
}

export function Answer({ response, error, durationMilliseconds }: AnswerProps) {
  return (
    <>
      <Facts
        facts={[
          ['Result', error === null ? 'Taken' : <bdi key="error">{error.message}</bdi>],
          ['Kind of error', error && errorWords[error.type]],
          ['Status', response === null ? 'No answer' : String(response.status)],
          ['Duration', `${durationMilliseconds} ms`],
        ]}
      />
      {response !== null && <Body label="Response" text={response.body} />}
    </>
  );
}
