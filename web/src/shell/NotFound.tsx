/** An address that leads nowhere. */
import { Link } from '@tanstack/react-router';
import { EmptyState } from '../ui/EmptyState.tsx';

export function NotFound() {
  return (
    <EmptyState title="Page not found" action={<Link to="/">To the inbox</Link>}>
      The address may be wrong, or from another version.
    </EmptyState>
  );
}
