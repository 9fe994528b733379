// Verifies a delivery with the public libraries: standardwebhooks for the
// signature and the CloudEvents SDK for the event. It reads
// {secret, headers, body} and prints what the SDK made of the event.
import { Webhook } from "standardwebhooks";
import { HTTP } from "cloudevents";
import { readFileSync } from "node:fs";

const { secret, headers, body } = JSON.parse(readFileSync(0, "utf8"));
new Webhook(secret).verify(body, headers);
let refused = false;
try {
  new Webhook(secret).verify(body.replace("NORTH", "SOUTH"), headers);
} catch {
  refused = true;
}
const event = HTTP.toEvent({ headers, body });
event.validate();
console.log(JSON.stringify({ refused, id: event.id, type: event.type, subject: event.subject, data: event.data }));
