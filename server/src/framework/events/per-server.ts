/** Memory of one server: a process may run several servers, as tests do. */
import type { Context } from '../context.ts';
import type { Events } from './events.ts';

/**
 * Something of which each server has one, made on first use.
 * @returns the one of the server that a context belongs to
 */
export function perServer<Value>(make: () => Value): (context: Pick<Context, 'events'>) => Value {
  const values = new WeakMap<Events, Value>();
  return ({ events }) => {
    const found = values.get(events);
    if (found !== undefined) return found;
    const made = make();
    values.set(events, made);
    return made;
  };
}
