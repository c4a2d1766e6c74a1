// Prints the speech probabilities of Silero VAD, one for each window of 256 samples, as a JSON array:
// node reference.mjs MODULES MODEL <AUDIO. MODULES is the folder node_modules, AUDIO are 32-bit floats of 8 kHz.
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'

const ort = createRequire(process.argv[2] + '/')('onnxruntime-web')
const windowLength = 256, contextLength = 32

ort.env.wasm.numThreads = 1
const session = await ort.InferenceSession.create(readFileSync(process.argv[3]))
const raw = readFileSync(0)
const audio = new Float32Array(raw.buffer.slice(raw.byteOffset, raw.byteOffset + raw.length))
const sr = new ort.Tensor('int64', BigInt64Array.from([8000n]), [])
let state = new ort.Tensor('float32', new Float32Array(2 * 128), [2, 1, 128])
let context = new Float32Array(contextLength)
const probabilities = []
for (let i = 0; i + windowLength <= audio.length; i += windowLength) {
  const input = new Float32Array(contextLength + windowLength)
  input.set(context)
  input.set(audio.subarray(i, i + windowLength), contextLength)
  context = audio.slice(i + windowLength - contextLength, i + windowLength)
  const result = await session.run({ input: new ort.Tensor('float32', input, [1, input.length]), state, sr })
  state = result.stateN
  probabilities.push(result.output.data[0])
}
console.log(JSON.stringify(probabilities))
