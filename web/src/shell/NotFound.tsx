/** An address that leads nowhere. */
import { Link } from '@tanstack/react-router';
import { EmptyState } from '../ui/EmptyState.tsx';

export function NotFound() {
  return (
    <EmptyState title="There is no such page" action={<Link to="/">To the inbox</Link>}>
      The address may be mistyped, or from another version.
    </EmptyState>
  );
}
