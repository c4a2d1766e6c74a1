// Both OAuth flows by oauth4webapi, and the tokens by jose, against a running
// service. BASE, KEY: where it is, and an API key of an operator.
import { webcrypto } from 'node:crypto'
import assert from 'node:assert/strict'

globalThis.crypto ??= webcrypto
const oauth = await import('oauth4webapi')
const jose = await import('jose')

const base = process.env.BASE
const insecure = { [oauth.allowInsecureRequests]: true }
const redirect_uri = 'https://crm.example.com/cb'

async function api(method, path, body, credential = process.env.KEY) {
  const headers = { authorization: `Bearer ${credential}` }
  if (body !== undefined) headers['content-type'] = 'application/json'
  const r = await fetch(base + path, { method, headers, body: JSON.stringify(body) })
  return { status: r.status, body: await r.json() }
}

async function made(path, body) {
  const r = await api('POST', path, body)
  assert.equal(r.status, 201, JSON.stringify(r.body))
  return r.body
}

// A browser that keeps its cookie and follows nothing.
let cookie = ''
async function browse(method, url, form) {
  const headers = { cookie }
  if (form) Object.assign(headers, { origin: base, 'content-type': 'application/x-www-form-urlencoded' })
  const r = await fetch(url, { method, redirect: 'manual', headers, body: form && new URLSearchParams(form).toString() })
  cookie = r.headers.get('set-cookie')?.split(';')[0] ?? cookie
  return r
}

const as = await oauth.processDiscoveryResponse(
  new URL(base), await oauth.discoveryRequest(new URL(base), { algorithm: 'oauth2', ...insecure }))
const jwks = jose.createRemoteJWKSet(new URL(as.jwks_uri))
const verified = (token) => jose.jwtVerify(token, jwks, { issuer: base, audience: 'callboard-api', algorithms: ['EdDSA'] })

// Client credentials, by Basic.
const machine = await made('/v1/oauth/clients', { name: 'machine', scopes: ['calls:read'], grant_types: ['client_credentials'] })
const own = { client_id: machine.client_id }
const basic = oauth.ClientSecretBasic(machine.client_secret)
const first = await oauth.processClientCredentialsResponse(as, own,
  await oauth.clientCredentialsGrantRequest(as, own, basic, { scope: 'calls:read' }, insecure))
assert.equal((await verified(first.access_token)).payload.client_id, machine.client_id)
assert.equal((await api('GET', '/v1/calls', undefined, first.access_token)).status, 200)
assert.equal((await api('GET', '/v1/agents', undefined, first.access_token)).status, 403)

// Authorization code with PKCE, of a public and of a confidential client.
const user = await made('/v1/users', { name: 'Ada', role: 'agent' })
const link = new URL((await made(`/v1/users/${user.id}/sign-in-link`)).url)
assert.equal((await browse('POST', `${base}/sign-in`, { token: link.searchParams.get('token') })).status, 200)
for (const isPublic of [true, false]) {
  const it = await made('/v1/oauth/clients', { name: 'CRM', scopes: ['calls:read'], public: isPublic, redirect_uris: [redirect_uri] })
  const client = { client_id: it.client_id }
  const proof = isPublic ? oauth.None() : oauth.ClientSecretPost(it.client_secret)
  const verifier = oauth.generateRandomCodeVerifier(), state = oauth.generateRandomState()
  const at = new URL(as.authorization_endpoint)
  for (const [name, value] of Object.entries({
    client_id: it.client_id, redirect_uri, response_type: 'code', scope: 'calls:read', state,
    code_challenge: await oauth.calculatePKCECodeChallenge(verifier), code_challenge_method: 'S256',
  })) at.searchParams.set(name, value)
  const page = await (await browse('GET', at)).text()
  const form = Object.fromEntries([...page.matchAll(/<input type="hidden" name="([^"]*)" value="([^"]*)">/g)]
    .map(([, name, value]) => [name, value.replace(/&#(\d+);/g, (_, n) => String.fromCharCode(n)).replaceAll('&amp;', '&')]))
  const sent = await browse('POST', as.authorization_endpoint, { ...form, decision: 'allow' })
  assert.equal(sent.status, 302)
  const params = oauth.validateAuthResponse(as, client, new URL(sent.headers.get('location')), state)
  const grant = () => oauth.authorizationCodeGrantRequest(as, client, proof, params, redirect_uri, verifier, insecure)
  const tokens = await oauth.processAuthorizationCodeResponse(as, client, await grant())
  assert.equal((await verified(tokens.access_token)).payload.sub, user.id)
  assert.equal((await api('GET', '/v1/calls', undefined, tokens.access_token)).status, 200)
  const next = await oauth.processRefreshTokenResponse(as, client,
    await oauth.refreshTokenGrantRequest(as, client, proof, tokens.refresh_token, insecure))
  assert.notEqual(next.refresh_token, tokens.refresh_token)
  if (!isPublic) {
    const seen = await oauth.processIntrospectionResponse(as, client,
      await oauth.introspectionRequest(as, client, proof, next.access_token, insecure))
    assert.equal(seen.active, true)
  }
  await oauth.processRevocationResponse(await oauth.revocationRequest(as, client, proof, next.refresh_token, insecure))
  assert.equal((await api('GET', '/v1/calls', undefined, next.access_token)).status, 401)
  await assert.rejects(async () => oauth.processAuthorizationCodeResponse(as, client, await grant()), { error: 'invalid_grant' })
}

// Tokens that nobody of ours has signed.
const { keys: [key] } = await (await fetch(as.jwks_uri)).json()
const [head, body, signature] = first.access_token.split('.')
const claims = jose.decodeJwt(first.access_token)
const other = (await jose.generateKeyPair('EdDSA')).privateKey
const coded = (v) => jose.base64url.encode(JSON.stringify(v))
const sign = (alg, kid, by, more) => new jose.SignJWT({ ...claims, ...more }).setProtectedHeader({ alg, kid }).sign(by)
const attacks = {
  'none': `${coded({ alg: 'none', kid: key.kid })}.${body}.`,
  'none, signed': `${coded({ alg: 'NONE', kid: key.kid })}.${body}.${signature}`,
  'the public key as a secret': await sign('HS256', key.kid, jose.base64url.decode(key.x)),
  'a key of its own': await sign('EdDSA', key.kid, other),
  'another kid': await sign('EdDSA', 'k2', other),
  'a kid that is a path': await sign('EdDSA', '../../dev/null', other),
  'no kid': await sign('EdDSA', undefined, other),
  'truncated': first.access_token.slice(0, -4),
  'without a signature': `${head}.${body}.`,
  'more rights': `${head}.${coded({ ...claims, permissions: ['*:write'] })}.${signature}`,
  'expired and tampered': `${head}.${coded({ ...claims, exp: 1, iat: 0 })}.${signature}`,
  'expired, by another key': await sign('EdDSA', key.kid, other, { exp: 1 }),
}
for (const [name, token] of Object.entries(attacks)) {
  const r = await api('GET', '/v1/calls', undefined, token)
  assert.deepEqual([r.status, r.body.error.code], [401, 'invalid_token'], name)
  await assert.rejects(verified(token), undefined, name)
}
console.log(`proven: ${Object.keys(attacks).length} attacks`)
