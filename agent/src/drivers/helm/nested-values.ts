/** A tree of values that is put together of paths, each set by a named variable. */

/** Path of a value: names of keys, and numbers of elements of lists. */
export type Path = readonly (string | number)[];

/** JSON text of a value: digits of numbers stay as they were written. */
interface Leaf {
  readonly json: string;
  readonly from: string;
}
interface Branch {
  readonly from: string;
  readonly kind: 'map' | 'list';
  readonly children: Map<string | number, Node>;
}
type Node = Leaf | Branch;

function isLeaf(node: Node): node is Leaf {
  return 'json' in node;
}

/** More would be a list of mostly nothing. */
const longestList = 10_000;

function newBranch(key: string | number, from: string): Branch {
  return { from, kind: typeof key === 'number' ? 'list' : 'map', children: new Map() };
}

function conflict(first: string, second: string): Error {
  return new Error(
    `${first} and ${second} set values at the same place: remove one of them, or set both in one with the format JSON`,
  );
}

export class NestedValues {
  readonly #root: Branch = { from: '', kind: 'map', children: new Map() };

  /** Whether nothing was set. */
  get isEmpty(): boolean {
    return this.#root.children.size === 0;
  }

  /**
   * @param json the value
   * @param from the variable, as messages name it
   * @throws Error that names both variables where another one set the place, a part of it, or what it is
   * part of
   */
  set(path: Path, json: string, from: string): void {
    let branch = this.#root;
    for (const [index, key] of path.entries()) {
      if (typeof key === 'number' && key >= longestList)
        throw new Error(`${from}: the number of an element must be below ${longestList}`);
      if (branch !== this.#root && (branch.kind === 'list') !== (typeof key === 'number'))
        throw conflict(branch.from, from);
      const known = branch.children.get(key);
      const next = path[index + 1];
      if (next === undefined) {
        if (known !== undefined) throw conflict(known.from, from);
        branch.children.set(key, { json, from });
      } else if (known === undefined) {
        const made = newBranch(next, from);
        branch.children.set(key, made);
        branch = made;
      } else {
        if (isLeaf(known)) throw conflict(known.from, from);
        branch = known;
      }
    }
  }

  /** The whole tree as JSON, which every reader of YAML reads. */
  toJson(): string {
    return jsonOf(this.#root);
  }
}

function jsonOf(node: Node): string {
  if (isLeaf(node)) return node.json;
  if (node.kind === 'map') {
    const members = [...node.children].map(([key, child]) => `${JSON.stringify(key)}: ${jsonOf(child)}`);
    return `{${members.join(', ')}}`;
  }
  const length = Math.max(...[...node.children.keys()].map(Number)) + 1;
  const elements = Array.from({ length }, (_, index) => node.children.get(index));
  return `[${elements.map((child) => (child === undefined ? 'null' : jsonOf(child))).join(', ')}]`;
}
