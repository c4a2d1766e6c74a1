package redis

import "github.com/redis/go-redis/v9"

// scriptHeader is the common beginning of all scripts. It defines the key prefix and helper functions.
const scriptHeader = `
local P = KEYS[1] .. 'lease:'
local function int(n) return string.format('%.0f', n) end
local at = redis.call('TIME')
local now = at[1] * 1000 + math.floor(at[2] / 1000)
local function counted(name) return tonumber(redis.call('HGET', P .. 'n', name) or '0') end
local function tell() redis.call('PUBLISH', P .. 'news', '') end
local function count(name, least)
  local n = math.max(counted(name) + 1, least)
  redis.call('HSET', P .. 'n', name, int(n))
  return n
end
local function lives(id)
  local ends = redis.call('ZSCORE', P .. 'nodes', id)
  return ends and tonumber(ends) > now
end
local function put(shard, token, rev)
  local old = tonumber(redis.call('ZSCORE', P .. 'changed', shard) or '0')
  redis.call('HSET', P .. 'rows', shard, token)
  redis.call('ZADD', P .. 'changed', int(rev), shard)
  redis.call('HSET', P .. 'n', 'sum', int((counted('sum') + rev - old) % 4294967296))
end
`

// renewScript renews a lease and returns what has changed. KEYS: prefix. ARGV:
//
//	node, and its JSON ("": only read).
//	Duration of the lease in ms.
//	Known numbers of the last changes of nodes and of rows.
//	Maximum lease in ms.
//	Setting and value of each parameter.
//
// It returns:
//
//	The numbers of the last changes of nodes and of rows, and the sum.
//	1 if the lease had ended, else 0.
//	Milliseconds until the next lease ends (0: none).
//	1 if all rows follow, else 0.
//	The number of nodes (-1: unchanged), and the JSON of each node.
//	Shard, change and token of each row.
//
// A node without a lease gets none while live nodes have another value of one of its parameters. The answer is then
// "differs", the setting, the stored value, the number of other nodes and the JSON of one of them.
//
// If a lease ends later than the maximum lease allows, the clock was set back after the lease was stored. The script then
// shortens the lease to the normal duration.
var renewScript = redis.NewScript(scriptHeader + `
local id, who, length, most = ARGV[1], ARGV[2], tonumber(ARGV[3]), tonumber(ARGV[6])
for _, n in ipairs(redis.call('ZRANGEBYSCORE', P .. 'nodes', '(' .. int(now + most), '+inf')) do
  redis.call('ZADD', P .. 'nodes', int(now + length), n)
end
local lapsed = not lives(id)
if who ~= '' and lapsed then
  local others = redis.call('ZRANGEBYSCORE', P .. 'nodes', '(' .. int(now), '+inf')
  for i = 7, #ARGV, 2 do
    local have = redis.call('HGET', P .. 'parameters', ARGV[i])
    if #others > 0 and have and have ~= ARGV[i + 1] then
      return {'differs', ARGV[i], have, int(#others), redis.call('HGET', P .. 'who', others[1]) or ''}
    end
  end
  if #others == 0 then redis.call('DEL', P .. 'parameters') end
  for i = 7, #ARGV, 2 do redis.call('HSET', P .. 'parameters', ARGV[i], ARGV[i + 1]) end
end
local news = false
if who ~= '' then
  redis.call('ZADD', P .. 'nodes', int(now + length), id)
  if lapsed or redis.call('HGET', P .. 'who', id) ~= who then
    redis.call('HSET', P .. 'who', id, who)
    news = true
  end
end
for _, n in ipairs(redis.call('ZRANGEBYSCORE', P .. 'nodes', '-inf', int(now))) do
  redis.call('ZREM', P .. 'nodes', n)
  redis.call('HDEL', P .. 'who', n)
  news = true
end
if news then count('nodes', now); tell() end
local nodes, rows = counted('nodes'), counted('rows')

local next = 0
local first = redis.call('ZRANGE', P .. 'nodes', 0, 1, 'WITHSCORES')
for i = 1, #first, 2 do
  if first[i] ~= id then next = math.max(tonumber(first[i + 1]) - now, 1); break end
end
local seen = tonumber(ARGV[5])
local all = seen == 0 or seen > rows
local answer = {int(nodes), int(rows), int(counted('sum')), lapsed and '1' or '0', int(next), all and '1' or '0', '-1'}
if nodes ~= tonumber(ARGV[4]) then
  local texts = 0
  for _, n in ipairs(redis.call('ZRANGE', P .. 'nodes', 0, -1)) do
    local text = redis.call('HGET', P .. 'who', n)
    if text then
      answer[#answer + 1] = text
      texts = texts + 1
    end
  end
  answer[7] = int(texts)
end
if all or seen ~= rows then
  local changed = redis.call('ZRANGEBYSCORE', P .. 'changed', all and '-inf' or '(' .. int(seen), '+inf', 'WITHSCORES')
  for i = 1, #changed, 2 do
    answer[#answer + 1] = changed[i]
    answer[#answer + 1] = changed[i + 1]
    answer[#answer + 1] = redis.call('HGET', P .. 'rows', changed[i]) or ''
  end
end
return answer
`)

// claimScript claims free shards. KEYS: prefix. ARGV: node, 1 to include shards of ended leases or else 0, minimum
// epoch, shard numbers. It returns the epoch and the claimed shards, or nothing if the node has no lease.
var claimScript = redis.NewScript(scriptHeader + `
local id, ended = ARGV[1], ARGV[2] == '1'
if not lives(id) then return {} end
local alive, free = {[''] = false, [id] = false}, {}
for i = 4, #ARGV do
  local owner = string.match(redis.call('HGET', P .. 'rows', ARGV[i]) or '|', '|(.*)$')
  if alive[owner] == nil then alive[owner] = not ended or lives(owner) end
  if not alive[owner] then free[#free + 1] = ARGV[i] end
end
if #free == 0 then return {'0'} end
local rev = count('rows', tonumber(ARGV[3]))
for _, shard in ipairs(free) do put(shard, int(rev) .. '|' .. id, rev) end
tell()
table.insert(free, 1, int(rev))
return free
`)

// releaseScript makes a shard free if it has the token. KEYS: prefix. ARGV: shard, token. It returns the current change
// number and token of the shard.
var releaseScript = redis.NewScript(scriptHeader + `
if redis.call('HGET', P .. 'rows', ARGV[1]) == ARGV[2] then
  put(ARGV[1], string.match(ARGV[2], '^%d*') .. '|', count('rows', 0))
  tell()
end
return {redis.call('ZSCORE', P .. 'changed', ARGV[1]) or '0', redis.call('HGET', P .. 'rows', ARGV[1]) or ''}
`)

// leaveScript ends the lease of a node. KEYS: prefix. ARGV: node.
var leaveScript = redis.NewScript(scriptHeader + `
redis.call('HDEL', P .. 'who', ARGV[1])
if redis.call('ZREM', P .. 'nodes', ARGV[1]) == 1 then count('nodes', now); tell() end
return {}
`)
