/** Short messages at the edge of the page. */
import type { NotificationData } from '@mantine/notifications';
import type { ErrorText } from './errors.ts';

/** Their code is loaded after the page; messages until then are shown as soon as it is there. */
function show(message: NotificationData): void {
  void import('@mantine/notifications').then(({ notifications }) => notifications.show(message));
}

/** Says that something is done; gone after some seconds. */
export function showDone(message: string): void {
  show({ message, color: 'petrol', autoClose: 5000 });
}

/** Says what failed and what to do; stays until it is closed. */
export function showError({ title, text, remedy, requestId }: ErrorText): void {
  const request = requestId === undefined ? '' : ` Request ${requestId}.`;
  show({
    title,
    message: `${text} ${remedy ?? ''}${request}`,
    color: 'red',
    autoClose: false,
    role: 'alert',
  });
}
