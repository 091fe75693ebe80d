/**
 * Functions of policies that may share a process, one after the other: they compute each time again. Of others, opa caches
 * results for longer than an evaluation, so that a policy could change what the next one gets: `glob`, `graphql`, `io.jwt` and
 * `regex.template_match` in opa 1.19. New functions are not in the list until someone has read what they cache.
 */
const names = new Set(
  `
  abs all and any array.concat array.flatten array.reverse array.slice assign base64.decode base64.encode
  base64.is_valid base64url.decode base64url.encode base64url.encode_no_pad bits.and bits.lsh bits.negate bits.or
  bits.rsh bits.xor cast_array cast_boolean cast_null cast_object cast_set cast_string ceil concat contains count
  crypto.md5 crypto.sha1 crypto.sha256 div endswith eq equal floor format_int graph.reachable graph.reachable_paths gt gte
  hex.decode hex.encode indexof indexof_n internal.member_2 internal.member_3 internal.print internal.template_string
  intersection is_array is_boolean is_null is_number is_object is_set is_string json.filter json.is_valid
  json.marshal json.marshal_with_options json.patch json.remove json.unmarshal lower lt lte max min minus mul
  neq net.cidr_contains net.cidr_contains_matches net.cidr_expand net.cidr_intersects net.cidr_is_valid net.cidr_merge
  net.cidr_overlap numbers.range numbers.range_step object.filter object.get object.keys object.remove object.subset
  object.union object.union_n or plus print product re_match regex.find_all_string_submatch_n regex.find_n
  regex.is_valid regex.match regex.replace regex.split rego.metadata.chain rego.metadata.rule rem replace round
  semver.compare semver.is_valid set_diff sort split sprintf startswith strings.any_prefix_match
  strings.any_suffix_match strings.count strings.replace_n strings.reverse strings.split_n substring sum
  time.add_date time.clock time.date time.diff time.format time.now_ns time.parse_duration_ns time.parse_ns
  time.parse_rfc3339_ns time.weekday to_number trim trim_left trim_prefix trim_right trim_space trim_suffix
  type_name union units.parse units.parse_bytes upper urlquery.decode urlquery.decode_object urlquery.encode
  urlquery.encode_object walk yaml.is_valid yaml.marshal yaml.unmarshal
  `
    .trim()
    .split(/\s+/),
);

/** @param name of a function of opa */
export function isUncached(name: string): boolean {
  return names.has(name);
}
