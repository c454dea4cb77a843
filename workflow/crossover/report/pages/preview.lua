-- Renders the parts of Quarto's Markdown that the report uses: numbered sections, figures and tables,
-- references to them, callouts, tabs. Text is HTML-escaped by pandoc; only fixed markup is written raw.

local KINDS = { fig = "Figure", tbl = "Table", sec = "Section" }
local CALLOUTS = {
  ["callout-note"] = "Note",
  ["callout-tip"] = "Tip",
  ["callout-important"] = "Important",
  ["callout-caution"] = "Caution",
  ["callout-warning"] = "Warning",
}
local NBSP = "\u{a0}"

local counts = { fig = 0, tbl = 0 }
local sections = {}
local tabsets = 0
local scrollers = 0
local labels = {} -- identifier -> "Figure 1"

local function kind_of(identifier)
  local kind = identifier:match("^(%l+)%-")
  return KINDS[kind] and kind
end

local function define(identifier, number)
  if labels[identifier] then
    error("the identifier " .. identifier .. " is used twice")
  end
  labels[identifier] = KINDS[kind_of(identifier)] .. NBSP .. number
end

-- The page's title is the only first-level heading, so all others move one down.
local function header(element)
  local depth = element.level
  sections[depth] = (sections[depth] or 0) + 1
  for deeper = depth + 1, 6 do
    sections[deeper] = nil
  end
  local numbers = {}
  for level = 1, depth do
    numbers[level] = tostring(sections[level] or 0)
  end
  local number = table.concat(numbers, ".")
  if kind_of(element.identifier) == "sec" then
    define(element.identifier, number)
  end
  element.level = depth + 1
  element.content:insert(1, pandoc.Span({ pandoc.Str(number) }, { class = "number" }))
  element.content:insert(2, pandoc.Space())
  return element
end

-- A div with an identifier of a figure or table ends in a paragraph: its caption.
local function float(div, kind)
  local content = div.content
  local last = content[#content]
  if not last or last.t ~= "Para" then
    error("#" .. div.identifier .. " does not end in a caption")
  end
  content:remove(#content)
  counts[kind] = counts[kind] + 1
  define(div.identifier, counts[kind])
  local caption = last.content
  caption:insert(1, pandoc.Strong({ pandoc.Str(labels[div.identifier] .. ".") }))
  caption:insert(2, pandoc.Space())
  return pandoc.Figure(content, { pandoc.Plain(caption) }, pandoc.Attr(div.identifier, { kind }))
end

local function callout(div, class)
  local title = pandoc.Inlines({ pandoc.Str(CALLOUTS[class]) })
  local content = div.content
  if content[1] and content[1].t == "Header" then
    title = content[1].content
    content:remove(1)
  end
  content:insert(1, pandoc.Div({ pandoc.Plain({ pandoc.Strong(title) }) }, { class = "callout-title" }))
  return pandoc.Div(content, pandoc.Attr(div.identifier, { "callout", class }, { role = "note" }))
end

-- One button and one panel per heading; all panels but the first are hidden.
local function tabs(div)
  tabsets = tabsets + 1
  local titles, panels = {}, {}
  for _, block in ipairs(div.content) do
    if block.t == "Header" then
      table.insert(titles, block.content)
      table.insert(panels, pandoc.Blocks({}))
    elseif #panels == 0 then
      error("a .panel-tabset must begin with a heading")
    else
      panels[#panels]:insert(block)
    end
  end
  local bar, content = pandoc.Inlines({}), pandoc.Blocks({})
  for index, title in ipairs(titles) do
    local name = ("tabset-%d-%d"):format(tabsets, index)
    bar:insert(pandoc.RawInline("html", ('<button type="button" role="tab" id="%s-tab" aria-controls="%s" '
      .. 'aria-selected="%s" tabindex="%d">'):format(name, name, tostring(index == 1), index == 1 and 0 or -1)))
    bar:extend(title)
    bar:insert(pandoc.RawInline("html", "</button>"))
    -- In print, all panels are shown, each below its title.
    -- A list, because Lua shuffles the keys of a table, and the same report must give the same bytes.
    local attributes = {
      { "role", "tabpanel" }, { "aria-labelledby", name .. "-tab" }, { "data-title", pandoc.utils.stringify(title) },
    }
    if index > 1 then
      table.insert(attributes, { "hidden", "hidden" })
    end
    content:insert(pandoc.Div(panels[index], pandoc.Attr(name, { "tab-panel" }, attributes)))
  end
  content:insert(1, pandoc.Div({ pandoc.Plain(bar) }, pandoc.Attr("", { "tab-bar" }, { role = "tablist" })))
  return pandoc.Div(content, { class = "tabs" })
end

local function division(div)
  if div.classes:includes("panel-tabset") then
    return tabs(div)
  end
  local class = div.classes:find_if(function(name) return CALLOUTS[name] end)
  -- Pandoc also passes the returned callout to this filter, which must not change it again.
  if class and not div.classes:includes("callout") then
    return callout(div, class)
  end
  local kind = kind_of(div.identifier)
  if kind == "fig" or kind == "tbl" then
    return float(div, kind)
  end
end

local known = {} -- the keys of the bibliography

local function reference(cite)
  local links = pandoc.Inlines({})
  for _, citation in ipairs(cite.citations) do
    if not kind_of(citation.id) then
      if not known[citation.id] then
        error("@" .. citation.id .. " is not in the bibliography")
      end
      return nil
    end
    if not labels[citation.id] then
      error("@" .. citation.id .. " refers to nothing on the page")
    end
    if #links > 0 then
      links:extend({ pandoc.Str(","), pandoc.Space() })
    end
    links:insert(pandoc.Link(labels[citation.id], "#" .. citation.id))
  end
  return links
end

-- A wide table scrolls by itself instead of widening the page.
local function scrolling(element)
  scrollers = scrollers + 1
  local attributes = { { "tabindex", "0" }, { "role", "region" }, { "aria-label", ("Table, part %d"):format(scrollers) } }
  return pandoc.Div({ element }, pandoc.Attr("", { "table-scroll" }, attributes))
end

-- Our own text has no HTML within a line, so this came with the data.
local function inert(element)
  return pandoc.Code(element.text)
end

function Pandoc(document)
  document.blocks = document.blocks:walk({ RawInline = inert })
  for _, entry in ipairs(pandoc.utils.references(document)) do
    known[entry.id] = true
  end
  -- From the top, so that numbers follow the order of the page and headings of tabs are gone before they count.
  document.blocks = document.blocks:walk({ traverse = "topdown", Div = division, Header = header })
  document.blocks = document.blocks:walk({ Cite = reference, Table = scrolling })
  return document
end
