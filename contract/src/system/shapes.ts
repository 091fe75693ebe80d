/** Shapes of replies about system. */
import { Flag, replyObject, Text } from '../schema/schema.ts';

export const Health = replyObject('Health', { isOk: Flag, text: Text });
