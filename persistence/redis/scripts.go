package redis

import "github.com/redis/go-redis/v9"

// The Redis keys of the format persistence.Layout, each after the prefix and the hash tag {cb}. A dot (·) is a zero
// byte. The hash tag keeps an installation in one hash slot, where scripts may use all of its keys.
//
//	r:table · id          hash: v version, d value, s sort, l lists joined by zero bytes.
//	k:table               sorted set of ids.
//	x:table · list        sorted set of sort · id.
//	e:log                 stream, entry 0-offset: q sequence, s subject, d payload.
//	o:log                 last offset.
//	q:log                 hash: subject → last sequence.
//	t                     hash: shard → token; * → see claimAllScript.
//	n:shard               number of the shard's last commit or claim.
//	i                     id of the installation, random.
//	c:commit id           result, for ten minutes.
//	format                persistence.Layout.

// commitScript executes one commit. KEYS: prefix. ARGV:
//
//	The commit number that the shard must have reached, and the number to give this commit ("": the next).
//	id, shard, token, log, TTL of the result in ms.
//	Number of guards, and of each: table, id, version.
//	Number of counter adds, and of each: table, id, prefix, deltas.
//	Number of puts, and of each: table, id, 0 (delete) or 1, value, sort, lists.
//	Number of events, and of each: subject, payload.
//	The log to delete ("": none).
//	The offset up to which the log is trimmed (0: not at all).
//	Number of events to delete, and of each: 0-offset.
//	Number of subjects to delete, and of each: subject.
//
// It returns {"ok", versions, offset, sequences, number}, {"stale", number}, {"fenced"}, {"conflict"} or {"malformed"}.
// A script that refuses the commit has written nothing.
var commitScript = redis.NewScript(`
local P = KEYS[1]
local at = 0
local function arg() at = at + 1; return ARGV[at] end
local function num(n) return string.format('%.0f', n) end
local known, force = tonumber(arg()), arg()
local id, shard, token, log, memory = arg(), arg(), arg(), arg(), arg()

local N = P .. 'n:' .. shard
local reached = tonumber(redis.call('GET', N) or '0')
if reached < known then return {'stale', num(reached)} end
if id ~= '' then
  local before = redis.call('GET', P .. 'c:' .. id)
  if before then return cjson.decode(before) end
end
if force ~= '' and tonumber(force) ~= reached + 1 then return {'stale', num(reached)} end
if (redis.call('HGET', P .. 't', shard) or '') ~= token then return {'fenced'} end
for _ = 1, tonumber(arg()) do
  local row = P .. 'r:' .. arg() .. '\0' .. arg()
  if (redis.call('HGET', row, 'v') or '0') ~= arg() then return {'conflict'} end
end

local raised = {}
for i = 1, tonumber(arg()) do
  local tbl, name, head, by = arg(), arg(), arg(), arg()
  local row = P .. 'r:' .. tbl .. '\0' .. name
  local old = redis.call('HGET', row, 'd')
  local sums, n = {}, 0
  if old then
    if string.sub(old, 1, #head) ~= head then return {'malformed'} end
    for v in string.gmatch(string.sub(old, #head + 1), '-?%d+') do sums[#sums + 1] = tonumber(v) end
  end
  for v in string.gmatch(by, '-?%d+') do
    n = n + 1
    sums[n] = (sums[n] or 0) + tonumber(v)
  end
  for k, v in ipairs(sums) do sums[k] = num(v) end
  raised[i] = {tbl, name, row, head .. table.concat(sums, ',') .. ']}', not old}
end

local versions = {}
for i = 1, tonumber(arg()) do
  local tbl, name, keep, value, sort, lists = arg(), arg(), arg(), arg(), arg(), arg()
  local row = P .. 'r:' .. tbl .. '\0' .. name
  local old = redis.call('HMGET', row, 'v', 's', 'l')
  local moved = old[1] and (keep == '0' or old[2] ~= sort or old[3] ~= lists)
  local stays = {}
  if moved then
    if keep ~= '0' and old[2] == sort then
      for l in string.gmatch(lists, '%Z+') do stays[l] = 0 end
    end
    for l in string.gmatch(old[3], '%Z+') do
      if stays[l] then
        stays[l] = 1
      else
        redis.call('ZREM', P .. 'x:' .. tbl .. '\0' .. l, old[2] .. '\0' .. name)
      end
    end
  end
  if keep == '0' then
    versions[i] = '0'
    if old[1] then
      redis.call('DEL', row)
      redis.call('ZREM', P .. 'k:' .. tbl, name)
    end
  else
    versions[i] = num(tonumber(old[1] or '0') + 1)
    redis.call('HSET', row, 'v', versions[i], 'd', value, 's', sort, 'l', lists)
    if not old[1] then redis.call('ZADD', P .. 'k:' .. tbl, 0, name) end
    if moved or not old[1] then
      for l in string.gmatch(lists, '%Z+') do
        if stays[l] ~= 1 then redis.call('ZADD', P .. 'x:' .. tbl .. '\0' .. l, 0, sort .. '\0' .. name) end
      end
    end
  end
end
for _, a in ipairs(raised) do
  redis.call('HINCRBY', a[3], 'v', 1)
  redis.call('HSET', a[3], 'd', a[4], 's', '', 'l', '')
  if a[5] then redis.call('ZADD', P .. 'k:' .. a[1], 0, a[2]) end
end

local events, first, sequences = tonumber(arg()), '0', {}
if events > 0 then
  local last = redis.call('INCRBY', P .. 'o:' .. log, events)
  for i = 1, events do
    local subject, payload = arg(), arg()
    local offset = num(last - events + i)
    if i == 1 then first = offset end
    sequences[i] = num(redis.call('HINCRBY', P .. 'q:' .. log, subject, 1))
    redis.call('XADD', P .. 'e:' .. log, '0-' .. offset, 'q', sequences[i], 's', subject, 'd', payload)
  end
end
local forget = arg()
if forget ~= '' then redis.call('DEL', P .. 'e:' .. forget, P .. 'o:' .. forget, P .. 'q:' .. forget) end
local trim = tonumber(arg())
if trim > 0 then redis.call('XTRIM', P .. 'e:' .. log, 'MINID', '0-' .. num(trim + 1)) end
for _ = 1, tonumber(arg()) do redis.call('XDEL', P .. 'e:' .. log, arg()) end
for _ = 1, tonumber(arg()) do redis.call('HDEL', P .. 'q:' .. log, arg()) end
if force == '' then force = num(reached + 1) end
redis.call('SET', N, force)
local answer = {'ok', table.concat(versions, ' '), first, table.concat(sequences, ' '), force}
if id ~= '' then redis.call('SET', P .. 'c:' .. id, cjson.encode(answer), 'PX', memory) end
return answer
`)

// claimHeader is the common beginning of claimScript and claimAllScript. Its ARGV are the commit number that the shard
// must have reached and the number to give this claim ("": the next). N is the Redis key of that number.
const claimHeader = `
local reached = tonumber(redis.call('GET', N) or '0')
local number = string.format('%.0f', reached + 1)
if reached < tonumber(ARGV[1]) or ARGV[2] ~= '' and ARGV[2] ~= number then return {'stale', string.format('%.0f', reached)} end
local function epoch(token) return tonumber(string.match(token or '', '^(%d+)|') or '0') end
local function done()
  redis.call('SET', N, number)
  return {'ok', '', '0', '', number}
end
`

// claimScript makes a token the owner of a shard. KEYS: prefix. ARGV after those of claimHeader: shard, token. It
// returns {"ok", …}, {"stale", number}, or {"fenced"} if a node with a higher epoch owns the shard. Epoch 1 belongs to
// a single process, which may take the shard from any owner. The claim ends the ownership of a process that claimed
// all shards.
var claimScript = redis.NewScript(`
local P, shard, token = KEYS[1], ARGV[3], ARGV[4]
local N = P .. 'n:' .. shard
` + claimHeader + `
local mine = epoch(token)
if mine > 1 and epoch(redis.call('HGET', P .. 't', shard) or '') > mine then return {'fenced'} end
local floor, all = string.match(redis.call('HGET', P .. 't', '*') or '0|', '^(%d+)|(.*)$')
if mine > 1 and tonumber(floor) >= mine then return {'fenced'} end
if all ~= '' then
  if redis.call('HGET', P .. 't', '0') == all then redis.call('HSET', P .. 't', '0', '0|') end
  redis.call('HSET', P .. 't', '*', floor .. '|')
end
redis.call('HSET', P .. 't', shard, token)
return done()
`)

// claimAllScript makes a token the owner of shard 0 and of all shards that were ever claimed. KEYS: prefix. ARGV
// after those of claimHeader: token; the highest epoch that the process has read. It returns {"ok", …}, {"stale",
// number} or {"fenced"}. A node is fenced if a shard has a higher epoch than its token. A single process is fenced if
// a shard has a higher epoch than the process has read, because a node has claimed the shard since then. The field *
// holds the highest epoch, "|" and the token, until a claim of a single shard removes the token.
var claimAllScript = redis.NewScript(`
local P, N = KEYS[1], KEYS[1] .. 'n:0'
` + claimHeader + `
local token, seen = ARGV[3], tonumber(ARGV[4])
local mine = epoch(token)
local highest, fields = 0, redis.call('HGETALL', P .. 't')
for i = 1, #fields, 2 do
  if fields[i + 1] ~= token then highest = math.max(highest, epoch(fields[i + 1])) end
end
if mine > 1 and highest > mine or mine <= 1 and highest > seen then return {'fenced'} end
for i = 1, #fields, 2 do redis.call('HSET', P .. 't', fields[i], token) end
redis.call('HSET', P .. 't', '0', token, '*', string.format('%.0f', highest) .. '|' .. token)
return done()
`)

// scanScript reads one page of a table or list. KEYS: prefix. ARGV: table, list, low, high (in the notation of
// ZRANGEBYLEX), limit of rows, 1 for reverse order or 0, limit in bytes. It returns 1 if more rows follow or 0, and
// then the position, version and value of each row.
var scanScript = redis.NewScript(`
local P = KEYS[1]
local tbl, list, low, high = ARGV[1], ARGV[2], ARGV[3], ARGV[4]
local limit, budget = tonumber(ARGV[5]), tonumber(ARGV[7])
local set = P .. 'k:' .. tbl
if list ~= '' then set = P .. 'x:' .. tbl .. '\0' .. list end
local places
if ARGV[6] == '1' then
  places = redis.call('ZREVRANGEBYLEX', set, high, low, 'LIMIT', 0, limit + 1)
else
  places = redis.call('ZRANGEBYLEX', set, low, high, 'LIMIT', 0, limit + 1)
end
local answer, size = {'0'}, 0
for i, place in ipairs(places) do
  if i > limit or size > budget then answer[1] = '1'; break end
  local name = place
  if list ~= '' then name = string.sub(place, string.find(place, '\0', 1, true) + 1) end
  local row = redis.call('HMGET', P .. 'r:' .. tbl .. '\0' .. name, 'v', 'd')
  if not row[1] then return redis.error_reply('CALLBOARD a place without its row') end
  answer[#answer + 1] = place
  answer[#answer + 1] = row[1]
  answer[#answer + 1] = row[2]
  size = size + #row[2]
end
return answer
`)

// eventsScript reads entries of an event log. KEYS: prefix. ARGV: log, first offset, limit of entries, limit in bytes.
// It returns the offset, sequence, subject and payload of each entry.
var eventsScript = redis.NewScript(`
local answer, size = {}, 0
local from, left, budget = ARGV[2], tonumber(ARGV[3]), tonumber(ARGV[4])
while left > 0 and size <= budget do
  local some = redis.call('XRANGE', KEYS[1] .. 'e:' .. ARGV[1], from, '+', 'COUNT', math.min(left, 64))
  if #some == 0 then break end
  for _, e in ipairs(some) do
    if size > budget then break end
    local f = e[2]
    answer[#answer + 1] = string.sub(e[1], 3)
    answer[#answer + 1] = f[2]
    answer[#answer + 1] = f[4]
    answer[#answer + 1] = f[6]
    size = size + #f[6]
    left = left - 1
    from = '(' .. e[1]
  end
end
return answer
`)
