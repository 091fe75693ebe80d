/** Short messages at the edge of the page. */
import { notifications } from '@mantine/notifications';
import type { ErrorText } from '../api/errors.ts';

/** Says that something is done; gone after some seconds. */
export function showDone(message: string): void {
  notifications.show({ message, color: 'petrol', autoClose: 5000 });
}

/** Says what failed and what to do; stays until it is closed. */
export function showError({ title, text, remedy, requestId }: ErrorText): void {
  const request = requestId === undefined ? '' : ` Request ${requestId}.`;
  notifications.show({
    title,
    message: `${text} ${remedy ?? ''}${request}`,
    color: 'red',
    autoClose: false,
    role: 'alert',
  });
}
