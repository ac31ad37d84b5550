"""How a page looks: on a light or dark screen, narrow or wide, and on paper."""

from __future__ import annotations

STYLE = """
:root{--paper:#fff;--ink:#1b1f24;--soft:#59636e;--line:#d5dae0;--tint:#f5f7f9;--a:#0b63c5;
--b:#b4560b;--c:#1a7f4b;--alarm:#b3151d;--alarm-tint:#fdecec;--ask:#7a4b00}
@media (prefers-color-scheme:dark){:root{--paper:#14171b;--ink:#e6e9ed;--soft:#9aa4af;
--line:#333a42;--tint:#1c2127;--a:#6cb0ff;--b:#f0a15a;--c:#5ecb92;--alarm:#ff9a9a;
--alarm-tint:#3a1719;--ask:#f2c46d}}
*{box-sizing:border-box}
body{margin:0;background:var(--paper);color:var(--ink);overflow-wrap:anywhere;
font:15px/1.5 system-ui,-apple-system,"Segoe UI",Roboto,"Noto Sans","Noto Sans CJK SC",sans-serif}
header,main{max-width:62rem;margin:0 auto;padding:0 1.25rem}
h1{font-size:1.6rem;line-height:1.25;margin:1.25rem 0 .5rem}
h2{font-size:1.15rem;margin:2.25rem 0 .5rem;padding-bottom:.25rem;
border-bottom:1px solid var(--line)}
.envelope{margin-top:1rem;padding:.5rem .75rem;background:var(--tint);border-radius:6px;
font:13px/1.5 ui-monospace,SFMono-Regular,Menlo,Consolas,monospace}
.envelope p{margin:0}
.envelope .alert{color:var(--alarm);background:var(--alarm-tint);margin:.35rem -.75rem -.5rem;
padding:.35rem .75rem;border-radius:0 0 6px 6px;font-weight:700}
.subtitle{margin:0 0 .75rem;color:var(--soft);font-size:1.05rem}
nav{display:flex;flex-wrap:wrap;gap:.25rem 1rem;font-size:.9rem}
nav a{color:var(--a)}
.basis,.none,figcaption{color:var(--soft);font-size:.85rem;margin:.25rem 0 .75rem}
p.plain{margin:1rem 0 .25rem;font-weight:600}
p.alert{color:var(--alarm);font-weight:600}p.ask{color:var(--ask);font-weight:600}
p.dim{color:var(--soft)}
ul{padding-left:1.25rem;margin:.5rem 0}
ul.alert li{color:var(--alarm);font-weight:600}
ul.ask li{color:var(--ask);font-weight:600}
ul.dim li{color:var(--soft)}
dl{display:grid;grid-template-columns:max-content 1fr;gap:.15rem 1.25rem;margin:.5rem 0}
dt{color:var(--soft)}
dd{margin:0}
dl.figures{grid-template-columns:repeat(auto-fit,minmax(8.5rem,1fr));gap:.6rem;margin:.75rem 0 1rem}
.figures div{display:flex;flex-direction:column-reverse;justify-content:flex-end;
padding:.6rem .75rem;border:1px solid var(--line);border-radius:6px}
.figures dd{font-size:1.35rem;font-weight:650;line-height:1.2;font-variant-numeric:tabular-nums}
.figures dt{font-size:.85rem;margin:0}
.wide{overflow-x:auto;margin:.5rem 0 1rem}
table{border-collapse:collapse;width:100%;font-size:.88rem}
th,td{text-align:left;vertical-align:top;padding:.3rem .6rem .3rem 0;
border-bottom:1px solid var(--line);min-width:3.5rem;font-variant-numeric:tabular-nums}
.short{white-space:nowrap}
.digest{font:11px/1.5 ui-monospace,SFMono-Regular,Menlo,Consolas,monospace;color:var(--soft)}
th{color:var(--soft);font-weight:600;white-space:nowrap}
figure{margin:1rem 0}
svg{display:block;width:100%;height:auto}
pre{background:var(--tint);padding:.6rem .75rem;border-radius:6px;overflow-x:auto;
white-space:pre-wrap;
font:12.5px/1.45 ui-monospace,SFMono-Regular,Menlo,Consolas,monospace}
.axis{stroke:var(--soft)}
.grid{stroke:var(--line)}
.tick{fill:var(--soft);font-size:11px}
.s0{fill:var(--a)}.s1{fill:var(--b)}.s2{fill:var(--c)}
.l0,.l1,.l2{fill:none;stroke-width:2.5}
.under{fill:var(--a);opacity:.12}
.l0{stroke:var(--a)}.l1{stroke:var(--b);stroke-dasharray:7 4}.l2{stroke:var(--c)}
.key:not(:first-child){margin-left:1em}
figcaption span:last-child{margin-left:1em}
.key{display:inline-block;width:.8em;height:.8em;margin-right:.35em;border-radius:2px}
.k0{background:var(--a)}.k1{background:var(--b)}.k2{background:var(--c)}
@media (max-width:34rem){dl{grid-template-columns:1fr}dt{margin-top:.35rem}}
@page{margin:16mm}
@media print{
:root{--paper:#fff;--ink:#000;--soft:#444;--line:#bbb;--tint:#f4f4f4;--a:#0b4f9c;--b:#9a4606;--c:#14683d;
--alarm:#a00;--alarm-tint:#fbeaea;--ask:#5e3a00}
body{font-size:10.5pt}
nav{display:none}
header,main{max-width:none;padding:0}
h2,.basis{break-after:avoid}
thead{display:table-header-group}
tr,figure,dl,.figures div{break-inside:avoid}
.wide{overflow:visible}
table{font-size:8pt}
.short{white-space:normal;overflow-wrap:normal}
.name{white-space:nowrap}
th,td{min-width:0}
dl.figures{grid-template-columns:repeat(6,1fr);gap:.4rem;padding-right:1px}
.figures div{padding:.4rem .5rem}
.figures dd{font-size:13pt}
.figures dt{font-size:8pt}
.envelope .alert{border:1px solid var(--alarm)}
*{-webkit-print-color-adjust:exact;print-color-adjust:exact}
}
"""
