/** A notification as Slack shows it: blocks of plain text, in which nothing is a link, a mention or a format. */
import { beginningOf, type Words } from './words.ts';

const mostFields = 10;
const mostTitleCharacters = 150;

/** In the one text that Slack reads as its own markup. */
function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}

function plain(text: string) {
  return { type: 'plain_text', text, emoji: false };
}

/** The body of an incoming webhook of Slack. */
export function slackMessage({ title, facts, error, link }: Words) {
  const fields = facts.slice(0, mostFields).map(([name, value]) => plain(`${name}: ${value}`));
  return {
    text: escaped(title),
    // Names must not become links or mentions in the notification either.
    mrkdwn: false,
    unfurl_links: false,
    blocks: [
      { type: 'header', text: plain(beginningOf(title, mostTitleCharacters)) },
      ...(fields.length > 0 ? [{ type: 'section', fields }] : []),
      ...(error === null ? [] : [{ type: 'section', text: plain(error) }]),
      ...(link === null
        ? []
        : [{ type: 'actions', elements: [{ type: 'button', text: plain('Open'), url: link }] }]),
    ],
  };
}
