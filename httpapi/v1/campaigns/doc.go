// Package campaigns serves the operations of campaigns: contacts, results, do-not-call
// lists, the decision log, bulk jobs.
package campaigns
