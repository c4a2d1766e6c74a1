// Verifies a delivery as a stranger's program would: BODY, HEADERS (JSON) and SECRET are in the environment.
import { Webhook } from "standardwebhooks";

const { BODY, HEADERS, SECRET } = process.env;
const headers = JSON.parse(HEADERS);
console.log("id", new Webhook(SECRET).verify(BODY, headers).id);
for (const [body, head] of [
  [BODY + " ", headers],
  [BODY, { ...headers, "webhook-id": "evt_other" }],
  [BODY, { ...headers, "webhook-timestamp": String(Number(headers["webhook-timestamp"]) - 1000) }],
]) {
  try {
    new Webhook(SECRET).verify(body, head);
    console.log("taken although it was changed");
  } catch {
    console.log("refused");
  }
}
