/** Region for messages. */
import '@mantine/notifications/styles.css';
import { Notifications } from '@mantine/notifications';

export default function MessageList() {
  return <Notifications position="bottom-right" limit={4} />;
}
