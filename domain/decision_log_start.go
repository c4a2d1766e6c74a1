package domain

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
)

// DecisionLogStart says that the first rows of a campaign's log of decisions were
// deleted because their retention ended: the log begins behind Seq, whose hash
// was Hash. Proof binds both to the workspace's key, so that nobody cuts off a
// log's beginning unseen.
type DecisionLogStart struct {
	WorkspaceID string `json:"workspace_id"`
	CampaignID  string `json:"campaign_id"`
	Seq         int    `json:"seq"`
	Hash        string `json:"hash"`
	Proof       string `json:"proof"`
}

// Key names the row.
func (s *DecisionLogStart) Key() Key { return Key{"decision_start", s.WorkspaceID, s.CampaignID + "/"} }

// Indexes: none.
func (s *DecisionLogStart) Indexes() []string { return nil }

// Sort is of no use: a campaign has one.
func (s *DecisionLogStart) Sort() string { return "" }

// Sign sets the proof.
func (s *DecisionLogStart) Sign(key []byte) { s.Proof = s.computeProof(key) }

// IsValid says whether the proof is that of the key.
func (s *DecisionLogStart) IsValid(key []byte) bool {
	return hmac.Equal([]byte(s.Proof), []byte(s.computeProof(key)))
}

func (s *DecisionLogStart) computeProof(key []byte) string {
	var h hashWriter
	h.text(1, "start of a log of decisions")
	h.text(2, s.WorkspaceID)
	h.text(3, s.CampaignID)
	h.number(4, int64(s.Seq))
	h.text(5, s.Hash)
	mac := hmac.New(sha256.New, key)
	mac.Write(h.b)
	return hex.EncodeToString(mac.Sum(nil))
}
