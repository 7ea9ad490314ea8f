package llm

import "container/list"

// memory keeps the replies used last, up to a number of bytes.
//
// It is not safe for concurrent use.
type memory struct {
	entries map[Key]*list.Element
	order   list.List // of *remembered, used last first
	bytes   int64
}

type remembered struct {
	key  Key
	resp Response
	by   answeredBy // whom a later hit is thanks to
}

// entryOverhead is about what an entry takes beside its text.
const entryOverhead = 400

func (r *remembered) size() int64 {
	return int64(entryOverhead + len(r.resp.Content) + len(r.resp.Model) + len(r.resp.Fingerprint))
}

func (m *memory) get(key Key) (*Response, answeredBy) {
	el := m.entries[key]
	if el == nil {
		return nil, 0
	}
	m.order.MoveToFront(el)
	r := el.Value.(*remembered)
	return &r.resp, r.by
}

// put keeps a reply, and drops those used longest ago beyond limit bytes. A
// reply above the limit is not kept.
func (m *memory) put(key Key, resp Response, by answeredBy, limit int64) {
	if el := m.entries[key]; el != nil {
		m.drop(el)
	}
	r := &remembered{key, resp, by}
	if r.size() > limit {
		return
	}
	if m.entries == nil {
		m.entries = map[Key]*list.Element{}
	}
	m.entries[key] = m.order.PushFront(r)
	m.bytes += r.size()
	for m.bytes > limit {
		m.drop(m.order.Back())
	}
}

func (m *memory) drop(el *list.Element) {
	r := m.order.Remove(el).(*remembered)
	delete(m.entries, r.key)
	m.bytes -= r.size()
}
