/** For tests: archives of a few entries, written without a program or library. */
import { crc32, deflateRawSync, gzipSync } from 'node:zlib';

export interface ArchivedFile {
  readonly name: string;
  readonly content: Uint8Array;
  /** File type and permissions, as in a unix mode; default: an executable plain file. */
  readonly mode?: number;
}

/** @returns the bytes of a zip file with these entries, in this order */
export function zipOf(entries: readonly ArchivedFile[]): Buffer {
  const parts: Buffer[] = [];
  const directory: Buffer[] = [];
  let offset = 0;
  for (const { name, content, mode = 0o100755 } of entries) {
    const packed = deflateRawSync(content, { level: 1 });
    const title = Buffer.from(name);
    const common = Buffer.alloc(26);
    common.writeUInt16LE(20, 0);
    common.writeUInt16LE(0x0800, 2);
    common.writeUInt16LE(8, 4);
    common.writeUInt32LE(0x00210000, 6);
    common.writeUInt32LE(crc32(content), 10);
    common.writeUInt32LE(packed.length, 14);
    common.writeUInt32LE(content.length, 18);
    common.writeUInt16LE(title.length, 22);
    const place = Buffer.alloc(14);
    place.writeUInt32LE((mode << 16) >>> 0, 6);
    place.writeUInt32LE(offset, 10);
    const local = Buffer.concat([Buffer.from('PK\x03\x04'), common, title, packed]);
    directory.push(Buffer.concat([Buffer.from('PK\x01\x02\x14\x03', 'latin1'), common, place, title]));
    parts.push(local);
    offset += local.length;
  }
  const size = directory.reduce((sum, part) => sum + part.length, 0);
  const end = Buffer.alloc(18);
  end.writeUInt16LE(entries.length, 4);
  end.writeUInt16LE(entries.length, 6);
  end.writeUInt32LE(size, 8);
  end.writeUInt32LE(offset, 12);
  return Buffer.concat([...parts, ...directory, Buffer.from('PK\x05\x06'), end]);
}

const blockBytes = 512;
const symbolicLink = 0o120000;

function headerOf({ name, content, mode = 0o100755 }: ArchivedFile): Buffer {
  const isLink = (mode & 0o170000) === symbolicLink;
  const header = Buffer.alloc(blockBytes);
  header.write(name, 0, 100);
  header.write(`${(mode & 0o7777).toString(8).padStart(7, '0')}\0`, 100);
  header.write('0000000\0'.repeat(2), 108);
  header.write(`${(isLink ? 0 : content.length).toString(8).padStart(11, '0')}\0`, 124);
  header.write('00000000000\0', 136);
  header.write(' '.repeat(8), 148);
  header.write(isLink ? '2' : '0', 156);
  if (isLink) header.write(Buffer.from(content).toString(), 157, 100);
  header.write('ustar\x0000', 257);
  const sum = header.reduce((total, byte) => total + byte, 0);
  header.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148);
  return header;
}

/** @returns the bytes of a gzipped archive with these entries, in this order; a link's content is its target */
export function tarOf(entries: readonly ArchivedFile[]): Buffer {
  const blocks = entries.flatMap((entry) => {
    const header = headerOf(entry);
    if (header[156] === '2'.charCodeAt(0)) return [header];
    const rest = (blockBytes - (entry.content.length % blockBytes)) % blockBytes;
    return [header, entry.content, Buffer.alloc(rest)];
  });
  return gzipSync(Buffer.concat([...blocks, Buffer.alloc(2 * blockBytes)]), { level: 1 });
}
