package redis

// Ledger gives tests access to a ledger without a driver.
type Ledger struct{ l *ledger }

// OpenLedger opens a ledger that starts a new file after most bytes.
func OpenLedger(dir string, most int64) (Ledger, error) {
	l, _, err := openLedger(dir)
	if err != nil {
		return Ledger{}, err
	}
	l.maxFileBytes = most
	return Ledger{l}, l.openFile("install")
}

// WriteIntent writes the entry that the driver writes before it sends a commit.
func (l Ledger) WriteIntent(id string) error {
	return l.l.writeEntries(true, func(add func(byte, ...string) error) error { return add(entryIntent, id, "an argument") })
}

// WriteTornEntry writes an incomplete entry, as a full disk would leave it.
func (l Ledger) WriteTornEntry() error {
	l.l.mu.Lock()
	defer l.l.mu.Unlock()
	l.l.torn = true
	_, err := l.l.file.Write([]byte{90, 0, 0, 0, 1, 2})
	return err
}

// ReadIDs returns the commit ids of the ledger's entries.
func (l Ledger) ReadIDs() (ids []string, err error) {
	all, err := l.l.read()
	for _, p := range all {
		ids = append(ids, p.id)
	}
	return ids, err
}

// Close closes the ledger.
func (l Ledger) Close() error { return l.l.close() }
